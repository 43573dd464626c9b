"""`check_stage` finds every planted fault, and nothing in their sound twins."""

import asyncio
import itertools
import math
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Never

import anyio
import anyio.lowlevel
import pytest
from attrs import Attribute, field, frozen
from hypothesis import strategies as st
from typing_extensions import override

import stepfold as sf
from stepfold.pipeline import Stage
from stepfold.testing.conformance import _drawn, _stage, _watched, check_stage

NUMBERS = itertools.count()
RELEASED = threading.Event()


@sf.stage
def raising(words: list[str]) -> str:
    """Raises where it should fail."""
    return words[7]


@sf.stage
def taking(words: list[str]) -> str:
    """Takes what it was given."""
    return words.pop()


@sf.stage
def counting(words: list[str]) -> int:
    """Gives another number each time."""
    return next(NUMBERS)


@sf.stage
async def blocking(words: list[str]) -> int:
    """Blocks the event loop."""
    time.sleep(0.7)  # noqa: ASYNC251 - this is the fault
    return len(words)


@sf.stage
async def stubborn(words: list[str]) -> int:
    """Goes on after a cancellation."""
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            continue
    return len(words)


@sf.stage
async def endless(words: list[str]) -> int:
    """Never ends, as long as the test is interested."""
    while not RELEASED.wait(0.001):  # noqa: ASYNC110 - what it waits for is not of the event loop
        await asyncio.sleep(0.01)
    return len(words)


@sf.stage
def quitting(words: list[str]) -> int:
    """Ends the process."""
    raise SystemExit(len(words))


@sf.stage
async def of_asyncio(words: list[str]) -> int:
    """Needs asyncio."""
    await asyncio.sleep(0)
    return len(words)


@sf.stage
async def awaiting(words: list[str]) -> int:
    await anyio.lowlevel.checkpoint()
    return len(words)


class Unhashable:
    """A function that is equal to others like it, and has no hash."""

    __name__ = "unhashable"

    def __call__(self, words: list[str]) -> int:
        return len(words)

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable)

    __hash__ = None  # type: ignore[assignment]


@frozen
class Lengths:
    """A function with fields, equal and hashed as a value."""

    more: int

    def __call__(self, words: list[str]) -> int:
        return len(words) + self.more


@sf.fallible
def chosen(words: list[str]) -> sf.Outcome[str, str]:
    return sf.Success(words[0]) if words else sf.Failure("nothing to choose from")


def untold(words):  # type: ignore[no-untyped-def]
    return len(words)


Words = Stage[list[str], object, object]

FAULTS: Mapping[str, tuple[Words, str]] = {
    "raises": (raising, "a value or a failure, and raises nothing"),
    "changes its input": (taking, "leaves its input as it was"),
    "counts": (counting, "one input has one outcome"),
    "blocks": (blocking, "does not block the event loop"),
    "is stubborn": (stubborn, "ends promptly when it is cancelled"),
    "never ends": (endless, "a stage ends"),
    "ends the process": (quitting, "raises nothing"),
    "raises in a lambda": (chosen.map(lambda word: word[99]), "raises nothing"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stage, law = FAULTS[fault]
    if stage is endless:
        monkeypatch.setattr(_watched, "PATIENCE", 0.3)
    with pytest.raises(AssertionError, match=law):
        check_stage(stage, given=[["a", "b"]])
    if stage is endless:
        RELEASED.set()


def test_what_cannot_be_hashed_is_found() -> None:
    with pytest.raises(AssertionError, match="and hashed alike"):
        check_stage(sf.pure(Unhashable()))


def test_what_needs_one_event_loop_is_found() -> None:
    with pytest.raises(AssertionError, match="raises nothing"):
        check_stage(of_asyncio, given=[["a"]], backends=["asyncio", "trio"])


def test_a_kept_stage_without_annotations_is_found() -> None:
    with pytest.raises(AssertionError, match="has a JSON form"):
        check_stage(sf.pure(untold), is_kept=True)


@pytest.mark.parametrize(
    "stage",
    [
        chosen,
        chosen.retry(2),
        chosen.map(str.upper).recover(lambda _: "none"),
        sf.pure(Lengths(2)),
        awaiting,
        sf.parallel(chosen & awaiting),
    ],
    ids=["one", "again", "recovered", "a value", "async", "side by side"],
)
@pytest.mark.parametrize("words", [["a", "b"], []], ids=["some", "none"])
def test_nothing_is_found_in_what_is_sound(stage: Words, words: Sequence[str]) -> None:
    check_stage(stage, given=[[*words]], backends=["asyncio", "trio"])


def test_a_sound_stage_can_be_kept() -> None:
    check_stage(chosen, is_kept=True)


def test_what_asks_the_world_says_so() -> None:
    check_stage(counting, given=[["a"]], is_pure=False)


def test_nothing_is_run_without_inputs() -> None:
    for stage in (quitting, endless, raising):
        check_stage(stage)


def test_the_input_is_told() -> None:
    with pytest.raises(AssertionError) as raised:
        check_stage(raising, given=[["a"]])

    assert str(raised.value).splitlines() == [
        "raising: a stage gives a value or a failure, and raises nothing",
        "  given: ['a']",
        (
            "  came:  the stage raising raised IndexError: list index out of range; "
            "return a Failure for what is expected to go wrong"
        ),
        "  on:    asyncio",
    ]


# --- drawn inputs -----------------------------------------------------------------------------


@sf.stage
def rooted(number: int) -> int:
    """Goes wrong below zero."""
    return math.isqrt(number)


@sf.stage
def initial(word: str) -> str:
    """Takes for granted that there is something."""
    return word[0]


@sf.stage
def plain_text(word: str) -> int:
    """Knows one alphabet."""
    return len(word.encode("ascii"))


@sf.stage
def short_line(word: str) -> str:
    """Has room for 80 characters."""
    if len(word) > 80:
        raise ValueError(len(word))
    return word


@sf.stage
def ordered(numbers: list[int]) -> int:
    """Changes what it was given, if that is out of order."""
    numbers.sort()
    return len(numbers)


@sf.stage
def recounted(words: list[str]) -> int:
    """Gives another number each time that there are two words."""
    return next(NUMBERS) if len(words) > 1 else 0


@frozen
class Item:
    price: int
    name: str = ""


@sf.stage
def priced(items: list[Item]) -> float:
    """Takes for granted that nothing is free."""
    return 100 / items[0].price if items else 0.0


SOME_FAIL: Mapping[str, tuple[Stage[Never, object, object], str]] = {
    "negative": (rooted, "given: -1"),
    "empty": (initial, "given: ''"),
    "not ASCII": (plain_text, "given: '\\x80'"),
    "long": (short_line, f"given: '{'0' * 81}'"),
    "out of order": (ordered, "given: [0, -1]"),
    "of a certain length": (recounted, "given:      ['', '']"),
    "bound to a class": (priced, "given: [Item(price=0, name='')]"),
}


@pytest.mark.parametrize("kind", SOME_FAIL)
def test_the_smallest_input_that_breaks_a_law_is_told(kind: str) -> None:
    stage, told = SOME_FAIL[kind]

    with pytest.raises(AssertionError) as raised:
        check_stage(stage, execute=True)

    assert str(raised.value).splitlines()[1].strip() == told


@sf.stage
def sound(items: list[Item]) -> sf.Outcome[float, str]:
    """The sound twin of them all."""
    names = sorted(item.name.encode() for item in items)
    prices = [item.price for item in items if item.price > 0]
    return sf.Success(sum(prices) / len(prices)) if prices else sf.Failure(f"{names} are free")


def test_nothing_is_found_in_what_is_sound_for_every_input() -> None:
    check_stage(sound, execute=True, backends=["asyncio", "trio"])


def test_inputs_may_be_drawn_by_a_strategy() -> None:
    words = st.lists(st.sampled_from(["a", "b"]), min_size=1)
    check_stage(chosen, given=words)

    with pytest.raises(AssertionError, match=r"given: \['a'\]"):
        check_stage(raising, given=words)


def test_no_more_inputs_are_drawn_than_asked_for() -> None:
    seen: list[int] = []

    def note(number: int) -> None:
        seen.append(number)

    stage = sf.pure(note)
    check_stage(stage, execute=True, examples=3, is_pure=False)

    assert len(seen) <= 6  # each is run, and cancelled once
    seen.clear()
    check_stage(stage, given=[7], execute=True, examples=0, is_pure=False)
    assert set(seen) == {7}


def test_what_takes_long_is_tried_on_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stage, "RUNNING", 0.0)
    seen: list[int] = []

    def note(number: int) -> None:
        seen.append(number)

    check_stage(sf.pure(note), execute=True, is_pure=False)

    assert len(seen) == 2  # one is run, and one is cancelled


def test_what_takes_long_to_fail_is_told_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making it small ends soon; what is told is the smallest that was found by then."""
    monkeypatch.setattr(_drawn, "SHRINKING", 0.0)
    seen: list[str] = []

    def note(word: str) -> str:
        seen.append(word)
        return word[len(word) :][0] if len(word) > 2 else word

    with pytest.raises(AssertionError, match="raises nothing") as raised:
        check_stage(sf.pure(note), execute=True)
    assert str(raised.value).splitlines()[1] == f"  given: {seen[-1]!r}"


def test_an_input_that_no_annotation_tells_is_asked_for() -> None:
    with pytest.raises(sf.UsageError, match="expected inputs to run it on"):
        check_stage(sf.pure(untold), execute=True)
    check_stage(sf.pure(untold), given=[["a"]], execute=True)


def _refuse(_: object, attribute: "Attribute[int]", value: int) -> None:
    raise ValueError(f"{attribute.name}: never {value}")


@frozen
class Bottle:
    size: int = field(validator=_refuse)


@sf.stage
def emptied(bottle: Bottle) -> int:
    return bottle.size


def test_what_refuses_every_input_is_told() -> None:
    with pytest.raises(sf.UsageError, match="found no input to run it on; give some, given="):
        check_stage(emptied, execute=True)


@pytest.mark.parametrize("wrong", [3, None, len])
def test_what_is_no_stage_is_refused(wrong: Words) -> None:
    with pytest.raises(sf.UsageError, match=r"expected a stage, such as @sf\.stage makes, got"):
        check_stage(wrong)


def test_a_stage_that_waits_for_people_is_refused() -> None:
    waiting = sf.await_input(int, name="age", ask=str)

    with pytest.raises(sf.UsageError, match="journal"):
        check_stage(waiting, given=["How old?"])
