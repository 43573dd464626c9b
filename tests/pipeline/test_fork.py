"""Runs that are decided anew, and runs that begin in the middle of others."""

import json

import pytest

import stepfold as sf
from stepfold.durable import MemoryStore
from stepfold.pipeline import open_inputs
from stepfold.ports import JournalError, JournalMissing, JournalRecord


@sf.stage
def listed(text: str) -> list[str]:
    return text.split()


@sf.stage
async def measured(word: str) -> int:
    return len(word)


@sf.stage
def added(lengths: tuple[int, ...]) -> int:
    return sum(lengths)


@sf.stage
def multiplied(lengths: tuple[int, ...]) -> int:
    return len(lengths) * max(lengths)


EACH = listed.map_each(measured, limit=2)
SUM = EACH >> added
ASKING = EACH.then(sf.await_input(int, name="figure", ask=str))


async def kept(pipeline: sf.Stage[str, object, object], text: str = "a bc") -> MemoryStore:
    """A store with one run of a pipeline."""
    store = MemoryStore()
    await pipeline.start(text, journal=store, run_id="r")
    return store


# --- replay -----------------------------------------------------------------------------------


async def test_a_run_is_decided_anew_without_running_anything() -> None:
    calls: list[str] = []

    @sf.stage
    def noted(text: str) -> list[str]:
        calls.append(text)
        return text.split()

    pipeline = noted.map_each(measured, limit=2) >> added
    store = await kept(pipeline)

    outcome = await pipeline.replay("r", journal=store)

    assert outcome.unwrap().end == sf.Finished(sf.Success(3))
    assert calls == ["a bc"]


async def test_a_run_that_waits_is_decided_anew() -> None:
    store = await kept(ASKING)

    state = (await ASKING.replay("r", journal=store)).unwrap()

    assert state.end is None
    assert [one.name for one in open_inputs(ASKING.wiring, state)] == ["figure"]


async def test_the_first_record_that_differs_is_told() -> None:
    store = await kept(SUM)

    outcome = await (EACH >> multiplied).replay("r", journal=store)

    diverged = outcome.failure()
    records = [json.loads(it) for it in (await store.read("r")).unwrap().records]
    assert records[diverged.position + 1]["stage"] == "added"
    assert (diverged.expected, diverged.got) == ("the stage added", "the stage multiplied")


@sf.stage
def counted(text: str) -> int:
    return len(text)


@sf.stage
def numbered(number: int) -> list[str]:
    return [str(number)]


async def test_what_no_longer_fits_is_where_they_part() -> None:
    @sf.stage
    def listed(text: str) -> int:
        return len(text)

    store = await kept(SUM)

    longer = await (SUM >> numbered).replay("r", journal=store)
    other = await numbered.replay("r", journal=store)
    retyped = await listed.replay("r", journal=store)

    assert longer.unwrap().end is None  # there is more to do
    assert other.failure().position == -1
    assert retyped.failure().position == 1
    assert "what listed gave" in retyped.failure().expected


async def test_a_run_of_nobody_cannot_be_decided() -> None:
    with pytest.raises(JournalError) as got:
        await SUM.replay("nobody", journal=MemoryStore())
    assert isinstance(got.value.fault, JournalMissing)


# --- fork -------------------------------------------------------------------------------------


async def test_a_fork_goes_on_from_any_record() -> None:
    store = await kept(SUM)
    records = (await store.read("r")).unwrap().records

    for at in range(1, len(records)):
        state = await SUM.fork("r", f"fork {at}", journal=store, at=at)
        run = await SUM.resume(f"fork {at}", journal=store)
        assert (state.run, run.id) == (f"fork {at}", f"fork {at}")
        assert run.end == sf.Finished(sf.Success(3))
    assert (await store.read("r")).unwrap().records == records


async def test_a_stage_is_given_something_else() -> None:
    store = await kept(SUM)

    await SUM.fork("r", "more", journal=store, at="added", given=(4, 5))
    await SUM.fork("r", "other", journal=store, at="listed", given="abc d e")
    await SUM.fork("r", "twice", journal=store, at=1, given="ab ab")

    ends = [(await SUM.resume(name, journal=store)).end for name in ("more", "other", "twice")]
    assert ends == [sf.Finished(sf.Success(number)) for number in (9, 5, 4)]
    again = await SUM.replay("more", journal=store)
    assert again.unwrap().end == sf.Finished(sf.Success(9))


async def test_a_fork_may_be_of_another_pipeline_that_agrees_so_far() -> None:
    store = await kept(SUM)
    other = EACH >> multiplied

    await other.fork("r", "other", journal=store, at="added")

    assert (await other.resume("other", journal=store)).end == sf.Finished(sf.Success(4))
    with pytest.raises(sf.UsageError, match="was begun by a pipeline that is wired in another way"):
        await SUM.resume("other", journal=store)
    with pytest.raises(sf.UsageError, match=r"does not agree .* at record 2 expected the stage li"):
        await (counted >> numbered).fork("r", "third", journal=store, at="added")


async def test_a_fork_of_a_suspended_run_is_answered_by_itself() -> None:
    store = await kept(ASKING)
    version = len((await store.read("r")).unwrap().records)

    await ASKING.fork("r", "fork", journal=store, at=version)
    answered = await ASKING.resume("fork", {"figure": 7}, journal=store)
    first = await ASKING.resume("r", {"figure": 1}, journal=store)

    assert answered.end == sf.Finished(sf.Success(7))
    assert first.end == sf.Finished(sf.Success(1))


def is_long(words: list[str]) -> bool:
    return len(words) > 1


def too_few(words: list[str]) -> int:
    return len(words)


async def test_a_stage_without_annotations_is_given_what_it_was() -> None:
    guarded = listed.guard(is_long, too_few)
    store = await kept(guarded)

    with pytest.raises(sf.UsageError, match="is_long: expected to know the type of what it is giv"):
        await guarded.fork("r", "x", journal=store, at="is_long", given=["a", "b", "c"])
    await guarded.fork("r", "x", journal=store, at="is_long")
    assert (await guarded.resume("x", journal=store)).end == sf.Finished(sf.Success(["a", "bc"]))


async def test_what_cannot_be_forked_is_told() -> None:
    store = await kept(SUM)
    version = len((await store.read("r")).unwrap().records)

    with pytest.raises(sf.UsageError, match="one that has ended there"):
        await SUM.fork("r", "x", journal=store, at=version)
    with pytest.raises(sf.UsageError, match="one of added, items, listed, measured, got 'nothing'"):
        await SUM.fork("r", "x", journal=store, at="nothing")
    with pytest.raises(sf.UsageError, match=r"fork, given to added: .* expected an integer"):
        await SUM.fork("r", "x", journal=store, at="added", given=("a",))
    with pytest.raises(sf.UsageError, match="expected one stage that is open there, got measured,"):
        await SUM.fork("r", "x", journal=store, at=6, given="a")
    for at in (0, version + 1):
        with pytest.raises(sf.UsageError, match=f"expected a record from 1 to .*, got {at}"):
            await SUM.fork("r", "x", journal=store, at=at)
    assert [run.run for run in await store.list_runs()] == ["r"]
    with pytest.raises(JournalError):
        await SUM.fork("r", "r", journal=store, at=1)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (b"[]", "a record is no object"),
        (b"{", "a record is no JSON"),
        (b"[" * 100_000, "a record is no JSON"),
    ],
    ids=["an array", "cut", "nested beyond the stack"],
)
async def test_a_damaged_run_is_not_forked(damage: bytes, told: str) -> None:
    store, left = await kept(SUM), MemoryStore()
    lines = (await store.read("r")).unwrap().records
    for version, line in enumerate((*lines[:2], damage, *lines[3:])):
        await left.append("r", JournalRecord(line, 0, "running"), expected=version)

    with pytest.raises(JournalError, match=told):
        await SUM.fork("r", "x", journal=left, at="added")
