"""Pipelines in a store: suspended, resumed, and taken up after a crash."""

import json
from collections.abc import Mapping
from typing import Any, final

import anyio
import anyio.lowlevel
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.durable import FileStore, MemoryStore
from stepfold.pipeline import OpenInput, Suspended
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalMissing,
    JournalRecord,
)


@final
@frozen
class Order:
    item: str
    price: int


@final
@frozen
class TooDear:
    price: int


@final
@frozen
class Refused:
    by: str


@sf.stage
def priced(item: str) -> Order:
    return Order(item, len(item))


@sf.stage
async def checked(order: Order) -> sf.Outcome[Order, TooDear]:
    await anyio.lowlevel.checkpoint()
    return sf.Failure(TooDear(order.price)) if order.price > 9 else sf.Success(order)


def question(order: Order) -> str:
    return f"Buy {order.item} for {order.price}?"


@sf.stage
def decided(answer: tuple[Order, bool]) -> sf.Outcome[Order, Refused]:
    order, is_approved = answer
    return sf.Success(order) if is_approved else sf.Failure(Refused("the boss"))


APPROVAL = sf.await_input_with(bool, name="approval", ask=question)
BUYING = priced.then(checked.idempotent()).then(APPROVAL).then(decided).named("buying")


def open_in(run: sf.PipelineRun[object, object]) -> tuple[OpenInput, ...]:
    assert isinstance(run.end, Suspended)
    return tuple(one for one in run.end.open if isinstance(one, OpenInput))


async def test_a_pipeline_waits_for_an_answer_and_goes_on() -> None:
    store = MemoryStore()

    run = await BUYING.start("tea", journal=store, run_id="r")

    (asked,) = open_in(run)
    assert (asked.name, asked.question) == ("approval", "Buy tea for 3?")
    (stored,) = await store.list_runs()
    assert stored.status == "blocked"
    again = await BUYING.resume("r", journal=store)
    assert open_in(again) == (asked,)
    done = await BUYING.resume("r", {"approval": True}, journal=store)
    assert done.end == sf.Finished(sf.Success(Order("tea", 3)))
    assert (await BUYING.resume("r", journal=store)).end == done.end
    (stored,) = await store.list_runs()
    assert stored.status == "completed"


async def test_a_failure_is_the_end_of_a_run() -> None:
    store = MemoryStore()

    dear = await BUYING.start("a golden tea pot", journal=store, run_id="dear")
    await BUYING.start("tea", journal=store, run_id="r")
    refused = await BUYING.resume("r", {"approval": False}, journal=store)

    assert dear.end == sf.Finished(sf.Failure(TooDear(16)))
    assert refused.end == sf.Finished(sf.Failure(Refused("the boss")))


async def test_siblings_stay_as_they_are_while_one_waits(tmp_path: Any) -> None:
    store = FileStore(tmp_path)
    calls: list[str] = []

    @sf.stage
    async def noted(item: str) -> int:
        calls.append(item)
        return len(item)

    first = sf.await_input(str, name="first", ask=str)
    second = sf.await_input(int, name="second", ask=str)
    pipeline = sf.given(str).parallel(noted & first & second)

    run = await pipeline.start("tea", journal=store, run_id="r")
    assert [one.name for one in open_in(run)] == ["first", "second"]
    run = await pipeline.resume("r", {"second": 2}, journal=store)
    assert [one.name for one in open_in(run)] == ["first"]
    run = await pipeline.resume("r", {"first": "x"}, journal=store)
    assert run.end == sf.Finished(sf.Success((3, "x", 2)))
    assert calls == ["tea"]


async def test_answers_are_checked() -> None:
    store = MemoryStore()
    await BUYING.start("tea", journal=store, run_id="r")

    with pytest.raises(sf.UsageError, match="the run waits for 'approval', got an answer for 'x'"):
        await BUYING.resume("r", {"x": 1}, journal=store)
    with pytest.raises(sf.UsageError, match=r"approval: .*expected"):
        await BUYING.resume("r", {"approval": "yes"}, journal=store)
    assert open_in(await BUYING.resume("r", journal=store))


async def test_inputs_of_one_name_are_answered_one_by_one() -> None:
    store = MemoryStore()
    asking = sf.given(str).then(sf.await_input(int, name="figure", ask=str))
    pipeline = listed.map_each(asking, limit=2)

    first, second = open_in(await pipeline.start("a b", journal=store, run_id="r"))
    with pytest.raises(sf.UsageError, match="2 open inputs are named 'figure': answer each"):
        await pipeline.resume("r", {"figure": 1}, journal=store)
    done = await pipeline.resume("r", {second: 2, first: 1}, journal=store)
    assert done.end == sf.Finished(sf.Success((1, 2)))


# --- crashes ----------------------------------------------------------------------------------


async def records_of(store: MemoryStore) -> tuple[bytes, ...]:
    """All that was written of the run."""
    return (await store.read("r")).unwrap().records


async def killed_after(store: MemoryStore, records: int) -> MemoryStore:
    """The store of a run whose process ended after so many records."""
    left = MemoryStore()
    for version, data in enumerate((await records_of(store))[:records]):
        await left.append("r", JournalRecord(data, 0, "running"), expected=version)
    return left


@sf.stage
def listed(text: str) -> list[str]:
    return text.split()


@sf.stage
async def measured(word: str) -> sf.Outcome[int, TooDear]:
    await anyio.sleep(0.001 * (len(word) % 3))
    return sf.Success(len(word)) if len(word) < 7 else sf.Failure(TooDear(len(word)))


@sf.stage
def total(lengths: tuple[int, ...]) -> int:
    return sum(lengths)


def is_small(number: int) -> bool:
    return number < 100


def too_dear(number: int) -> TooDear:
    return TooDear(number)


LONG = (
    listed.map_each(measured, limit=2)
    .then(total)
    .tap(print)
    .guard(is_small, too_dear)
    .timeout(60)
    .retry(2)
    .idempotent()
)


@pytest.mark.parametrize("text", ["a bc def", "a abcdefgh b"], ids=["succeeds", "fails"])
async def test_a_run_that_was_killed_anywhere_ends_as_if_it_was_not(text: str) -> None:
    store = MemoryStore()
    undisturbed = await LONG.start(text, journal=store, run_id="r")
    count = len(await records_of(store))

    for records in range(1, count + 1):
        left = await killed_after(store, records)
        resumed = await LONG.resume("r", journal=left)
        assert resumed.end == undisturbed.end


async def test_what_may_have_run_does_not_run_again() -> None:
    """A stage counts as in flight from when its beginning is written, and not before."""
    store = MemoryStore()
    pipeline = listed.map_each(measured, limit=2)
    done = await pipeline.start("a bc", journal=store, run_id="r")
    records = [json.loads(record) for record in await records_of(store)]
    begun = [number for number, it in enumerate(records) if it["type"] == "begun"]
    kinds = [it["type"] for it in records[:6]]
    assert kinds == ["pipeline-begun", "begun", "succeeded", "succeeded", "begun", "begun"]

    for number in begun:
        fresh = await pipeline.resume("r", journal=await killed_after(store, number))
        run = await pipeline.resume("r", journal=await killed_after(store, number + 1))
        assert isinstance(run.end, sf.Crashed)
        assert (run.end.stage, run.end.exception) == (records[number]["stage"], "Interrupted")
        assert "not declared idempotent" in run.end.message
        if number != begun[2]:  # where the stage before it was in flight
            assert fresh.end == done.end


async def test_a_stage_that_raises_is_the_end_of_a_run() -> None:
    @sf.stage
    def breaks(text: str) -> int:
        raise LookupError(text)

    store = MemoryStore()
    run = await breaks.start("x", journal=store, run_id="r")

    assert run.end == sf.Crashed("breaks", "LookupError", "x")
    assert (await breaks.resume("r", journal=store)).end == run.end


# --- what is refused --------------------------------------------------------------------------


async def test_a_run_is_begun_once_and_resumed_by_its_own_pipeline() -> None:
    store = MemoryStore()
    await priced.start("tea", journal=store, run_id="r")

    with pytest.raises(JournalError) as got:
        await priced.start("tea", journal=store, run_id="r")
    assert isinstance(got.value.fault, JournalConflict)
    with pytest.raises(JournalError) as got:
        await priced.resume("nobody", journal=store)
    assert isinstance(got.value.fault, JournalMissing)
    with pytest.raises(sf.UsageError, match="was begun by a pipeline that is wired in another way"):
        await BUYING.resume("r", journal=store)


@pytest.mark.parametrize(
    "change",
    [
        {"value": {"item": 3, "price": 3}},
        {"type": "nonsense"},
        {"place": 7},
        {"place": "x"},
        {"strand": [0, 0]},
        {"type": "waited"},
        {"type": "failed", "error": 1},
    ],
    ids=str,
)
async def test_a_damaged_journal_is_told_as_such(change: Mapping[str, object]) -> None:
    store, left = MemoryStore(), MemoryStore()
    await priced.start("tea", journal=store, run_id="r")
    head, begun, event = await records_of(store)
    broken = json.dumps(json.loads(event) | change).encode()
    for version, data in enumerate((head, begun, broken)):
        await left.append("r", JournalRecord(data, 0, "running"), expected=version)

    with pytest.raises(JournalError) as got:
        await priced.resume("r", journal=left)
    assert isinstance(got.value.fault, JournalDamaged)


def untyped(text):  # type: ignore[no-untyped-def]
    return text


def imaginary(text: str) -> complex:
    return complex(text)


@pytest.mark.parametrize(
    ("pipeline", "told"),
    [
        (sf.given(str).map(lambda text: text), "the value of map: expected an annotation"),
        (sf.given(str).then(sf.stage(untyped)), "the value of untyped: expected an annotation"),
        (sf.stage(untyped), "needs to know the type of what it is given"),
        (sf.given(str).then(sf.stage(imaginary)), "the value of imaginary"),
        (
            sf.given(str).guard(bool, lambda text: text),
            "the failure of bool: expected an annotation",
        ),
    ],
    ids=["lambda", "unannotated", "unknown input", "no form", "guard"],
)
async def test_a_boundary_that_cannot_be_written_is_refused_before_anything_runs(
    pipeline: sf.Stage[str, object, object], told: str
) -> None:
    store = MemoryStore()

    with pytest.raises(sf.UsageError, match=told):
        await pipeline.start("tea", journal=store, run_id="r")
    assert await store.list_runs() == ()
    with pytest.raises(sf.UsageError, match=told):
        pipeline.durable()


def test_a_pipeline_may_be_checked_where_it_is_built() -> None:
    assert BUYING.durable() is BUYING
    with pytest.raises(sf.UsageError, match="expected names that differ, got two of 'approval'"):
        BUYING.then(sf.await_input(bool, name="approval", ask=question)).durable()


async def test_a_value_of_another_type_than_promised_is_refused() -> None:
    @sf.stage
    def lies(text: str) -> int:
        return text  # type: ignore[return-value]

    with pytest.raises(sf.UsageError, match=r"lies: .*expected"):
        await lies.start("tea", journal=MemoryStore(), run_id="r")
