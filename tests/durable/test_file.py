"""A store in a folder: what a crash leaves, what others wrote, what is damaged."""

from pathlib import Path

import pytest

from stepfold.durable import FileStore
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalRecord,
    JournalUnavailable,
)
from stepfold.values import Failure, Success

BIG = ("d1", b"big " * 1_000)


def record(number: int) -> JournalRecord:
    """Make a record with a payload."""
    return JournalRecord(b'{"n":%d}' % number, number, "running", (BIG,))


async def written(folder: Path, count: int = 3) -> tuple[FileStore, Path]:
    """Make a run of some records."""
    store = FileStore(folder)
    for number in range(count):
        assert await store.append("run", record(number + 1), expected=number) == Success(number + 1)
    return store, store.path_of("run")


async def test_whatever_a_crash_leaves_of_a_line_the_run_goes_on(tmp_path: Path) -> None:
    """At every length of the last line, for readers, for a new writer and for an old one."""
    store, path = await written(tmp_path)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for length in range(last, len(whole)):
        for writer in (store, FileStore(tmp_path)):
            path.write_bytes(whole[:length])

            assert len((await FileStore(tmp_path).read("run")).unwrap().records) == 2
            assert [it.version for it in await FileStore(tmp_path).list_runs()] == [2]
            assert await writer.append("run", record(9), expected=2) == Success(3)
            assert (await store.read("run")).unwrap().records[-1] == record(9).data


async def test_a_payload_is_written_once(tmp_path: Path) -> None:
    _, path = await written(tmp_path, 5)
    await FileStore(tmp_path).append("run", record(6), expected=5)

    assert path.read_bytes().count(BIG[1]) == 1


async def test_a_write_that_was_lost_in_pages_is_no_line(tmp_path: Path) -> None:
    store, path = await written(tmp_path)
    with path.open("ab") as file:
        file.write(b"\0" * 512 + b"\n")

    assert len((await store.read("run")).unwrap().records) == 3
    assert await store.append("run", record(4), expected=3) == Success(4)


@pytest.mark.parametrize("place", [5, -10])
async def test_a_changed_line_is_damage(tmp_path: Path, place: int) -> None:
    """Also the last one: it was whole, so it counted."""
    store, path = await written(tmp_path)
    changed = bytearray(path.read_bytes())
    changed[place] ^= 1
    path.write_bytes(changed)

    outcome = await store.read("run")
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.failure(), JournalDamaged)
    assert isinstance(await store.fork("run", "new", at=1), Failure)
    with pytest.raises(JournalError, match="at byte"):
        await FileStore(tmp_path).append("run", record(4), expected=3)


async def test_a_record_that_was_cut_out_is_damage(tmp_path: Path) -> None:
    store, path = await written(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines[:2], *lines[3:])))

    outcome = await store.read("run")
    assert outcome == Failure(JournalDamaged("run", "record 2 is missing"))


async def test_an_append_looks_at_nothing_but_the_end(tmp_path: Path) -> None:
    """What is written costs the same at the start of a run and at its end."""
    store, path = await written(tmp_path, 1)
    sizes = []
    for number in range(1, 200):
        before = path.stat().st_size
        await store.append("run", record(number), expected=number)
        sizes.append(path.stat().st_size - before)

    assert max(sizes) - min(sizes) <= 6  # digits of numbers


async def test_a_file_cut_short_behind_a_writer_is_seen(tmp_path: Path) -> None:
    store, path = await written(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))

    outcome = await store.append("run", record(4), expected=3)
    assert outcome == Failure(JournalConflict("run", 3, 1))


async def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(JournalError) as caught:
        await FileStore(tmp_path / "file").append("run", record(1), expected=0)

    assert isinstance(caught.value.fault, JournalUnavailable)
    assert "file" in str(caught.value)
