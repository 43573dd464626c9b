"""`check_stage` finds every planted fault, and nothing in their sound twins."""

import asyncio
import itertools
import threading
import time
from collections.abc import Mapping, Sequence

import anyio
import anyio.lowlevel
import pytest
from attrs import frozen
from typing_extensions import override

import stepfold as sf
from stepfold.pipeline import Stage
from stepfold.testing.conformance import _watched, check_stage

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
    with pytest.raises(AssertionError, match="compared and hashed"):
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


@pytest.mark.parametrize("wrong", [3, None, len])
def test_what_is_no_stage_is_refused(wrong: Words) -> None:
    with pytest.raises(sf.UsageError, match=r"expected a stage, such as @sf\.stage makes, got"):
        check_stage(wrong)


def test_a_stage_that_waits_for_people_is_refused() -> None:
    waiting = sf.await_input(int, name="age", ask=str)

    with pytest.raises(sf.UsageError, match="journal"):
        check_stage(waiting, given=["How old?"])
