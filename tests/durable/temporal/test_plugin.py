"""What the plugin adds to what a client and its workers have already."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.worker import Replayer, UnsandboxedWorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from typing_extensions import override

import stepfold as sf
from stepfold.durable import temporal
from tests.durable.temporal.program import Traveller


class Reversed(PayloadCodec):
    """A codec that hides what it is given, badly."""

    @override
    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [Payload(metadata=one.metadata, data=one.data[::-1]) for one in payloads]

    @override
    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return await self.encode(payloads)


def kept_in(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def modules_of(replayer: Replayer) -> set[str]:
    runner = replayer.config(active_config=True).get("workflow_runner")
    assert isinstance(runner, SandboxedWorkflowRunner)
    return set(runner.restrictions.passthrough_modules)


def test_a_sandbox_takes_what_it_took_and_more() -> None:
    mine = SandboxedWorkflowRunner(
        restrictions=SandboxRestrictions.default.with_passthrough_modules("mine")
    )
    plugin = temporal.plugin(passed_through=["numpy"])
    modules = modules_of(Replayer(workflows=[Traveller], workflow_runner=mine, plugins=[plugin]))

    assert modules >= {*temporal.PASSED_THROUGH, "mine", "numpy"}
    assert "tests" not in modules


def test_a_worker_without_a_sandbox_stays_without() -> None:
    replayer = Replayer(
        workflows=[Traveller],
        workflow_runner=UnsandboxedWorkflowRunner(),
        plugins=[temporal.plugin()],
    )

    runner = replayer.config(active_config=True).get("workflow_runner")
    assert isinstance(runner, UnsandboxedWorkflowRunner)


async def test_a_codec_is_kept_beside_a_storage(temporal_address: str, tmp_path: Path) -> None:
    hiding = replace(DataConverter.default, payload_codec=Reversed())
    storage = temporal.FileStorage(tmp_path)
    client = await Client.connect(
        temporal_address, data_converter=hiding, plugins=[temporal.plugin(storage=storage)]
    )

    [kept] = await client.data_converter.encode(["a secret" * 10_000])

    assert kept.ByteSize() < 1_000
    [file] = kept_in(tmp_path)
    assert b"terces a" in file
    assert await client.data_converter.decode([kept]) == ["a secret" * 10_000]


@pytest.mark.parametrize("name", ["heartbeat_seconds", "longest_seconds", "attempts"])
def test_figures_are_positive(name: str) -> None:
    with pytest.raises(sf.UsageError, match=f"EngineOptions: {name}: expected more than 0, got 0"):
        temporal.EngineOptions(**{name: 0})  # type: ignore[arg-type]
