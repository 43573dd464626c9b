"""What is big is kept once, beside the engine."""

from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowFailureError, WorkflowHistory
from temporalio.converter import (
    StorageDriverClaim,
    StorageDriverRetrieveContext,
    StorageDriverStoreContext,
)

from stepfold.codec import StoredDataError
from stepfold.durable import temporal
from tests.durable.temporal.conftest import Serve
from tests.durable.temporal.program import MEGABYTE, Reader, read

STORING = StorageDriverStoreContext()
RETRIEVING = StorageDriverRetrieveContext()


def kept_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_big_results_go_by_reference(serve: Serve, tmp_path: Path) -> None:
    """Three megabytes are over what the engine takes, and are sent with each later command."""
    storage = temporal.FileStorage(tmp_path)
    async with serve(temporal.serve(Reader), storage=storage) as serving:
        handle = await serving.start(Reader)
        run = await handle.result()
        history = await handle.workflow.fetch_history()

    assert run.unwrap() == "Done."
    assert run.results_of(read) == ("x" * (3 * MEGABYTE),)
    assert size_of(history) < 100_000
    # the event; the piece of the history with it, which four later commands share; the end
    big = [path for path in kept_in(tmp_path) if path.stat().st_size > 3 * MEGABYTE]
    assert len(big) == 3


async def test_without_a_storage_a_big_result_says_what_is_missing(serve: Serve) -> None:
    async with serve(temporal.serve(Reader)) as serving:
        handle = await serving.start(Reader)
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()

    assert "RunTool/0/0/0: expected an answer of 2,097,152 bytes at most" in str(failed.value.cause)
    assert "storage=" in str(failed.value.cause)


def size_of(history: WorkflowHistory) -> int:
    return sum(event.ByteSize() for event in history.events)


async def test_a_payload_is_kept_once(tmp_path: Path) -> None:
    storage, again = temporal.FileStorage(tmp_path), temporal.FileStorage(tmp_path)
    payloads = [Payload(metadata={"encoding": b"json/plain"}, data=data) for data in (b"1", b"2")]

    claims = await storage.store(STORING, payloads)
    assert await again.store(STORING, payloads[:1]) == claims[:1]

    assert len(kept_in(tmp_path)) == 2
    assert await again.retrieve(RETRIEVING, claims) == payloads


async def test_a_payload_that_is_gone_or_damaged_is_an_error(tmp_path: Path) -> None:
    storage = temporal.FileStorage(tmp_path)
    claims = await storage.store(STORING, [Payload(data=b"1")])
    with pytest.raises(StoredDataError, match="not in this storage"):
        await storage.retrieve(RETRIEVING, [StorageDriverClaim({"sha256": "0" * 64})])
    kept_in(tmp_path)[0].write_bytes(b"other")
    with pytest.raises(StoredDataError, match="is damaged"):
        await storage.retrieve(RETRIEVING, claims)
