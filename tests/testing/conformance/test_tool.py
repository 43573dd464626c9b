"""`check_tool` finds every planted fault, and nothing in their sound twins."""

import asyncio
import itertools
import math
import sys
import threading
import time
from collections.abc import AsyncIterator
from typing import Annotated

import anyio
import anyio.lowlevel
import pytest
from attrs import field, frozen
from hypothesis import strategies as st

import stepfold as sf
from stepfold.schema import bounded
from stepfold.testing.conformance import _drawn, _tool, _watched, check_tool

NUMBERS = itertools.count()
RELEASED = threading.Event()


@sf.tool
def silent(city: str) -> str:
    return city


@sf.tool
def quitting(city: str) -> str:
    """End the process."""
    raise SystemExit(city)


@sf.tool
def unwritable(city: str) -> object:
    """Give what has no JSON form."""
    return {1, city}.__iter__


@sf.tool
async def half_written(city: str) -> AsyncIterator[object]:
    """Give a preliminary result without a JSON form."""
    yield object()
    yield city


@sf.tool(idempotent=True)
def counting(city: str) -> int:
    """Give another number each time."""
    return next(NUMBERS)


@sf.tool
async def blocking(city: str) -> str:
    """Block the event loop."""
    time.sleep(0.7)  # noqa: ASYNC251 - this is the fault
    return city


@sf.tool
async def stubborn(city: str) -> str:
    """Go on after a cancellation."""
    until = time.monotonic() + 1.5
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            continue
    return city


@sf.tool
async def endless(city: str) -> str:
    """Never end, as long as the test is interested."""
    while not RELEASED.wait(0.001):  # noqa: ASYNC110 - what it waits for is not of the event loop
        await asyncio.sleep(0.01)
    return city


@sf.tool
async def self_cancelled(city: str) -> str:
    """Claim to be cancelled."""
    raise asyncio.CancelledError(city)


def _shown(value: int) -> sf.TextOutput:
    raise ValueError(value)


@sf.tool(to_model_output=_shown)
def hidden(city: str) -> int:
    """Give what cannot be shown."""
    return len(city)


def _numbered(value: str) -> str:
    return f"{value}-{next(NUMBERS)}"


@frozen
class Ticket:
    name: str = field(converter=_numbered)


@sf.tool
def numbered(ticket: Ticket) -> str:
    """Convert an argument otherwise each time."""
    return ticket.name


@sf.tool
async def one_loop(city: str) -> str:
    """Run on asyncio alone."""
    await asyncio.sleep(0)
    return city


FAULTS: dict[str, tuple[sf.AnyTool[object, object], str]] = {
    "says nothing": (silent, "silent: a tool tells the model what it does"),
    "ends the process": (quitting, "quitting: a tool returns, or raises an Exception"),
    "gives no JSON": (unwritable, "unwritable: what a tool returns has a JSON form"),
    "shows no JSON": (half_written, "half_written: what a tool returns has a JSON form"),
    "is not idempotent": (counting, "counting: an idempotent tool gives the same"),
    "blocks": (blocking, "blocking: an async tool does not block the event loop"),
    "shrugs off cancellations": (stubborn, "stubborn: an async tool ends promptly"),
    "does not end": (endless, "endless: a tool ends"),
    "claims to be cancelled": (self_cancelled, "a tool returns, or raises an Exception"),
    "cannot be shown": (hidden, "hidden: what a tool returns can be shown to the model"),
    "binds otherwise": (numbered, "numbered: arguments are bound alike each time"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tool, law = FAULTS[fault]
    RELEASED.clear()
    if fault == "does not end":
        monkeypatch.setattr(_watched, "PATIENCE", 0.3)
    monkeypatch.setattr(_tool, "RUNNING", 1.0)  # some of them are slow

    try:
        with pytest.raises(AssertionError, match=law):
            check_tool(tool, execute=True)
    finally:
        RELEASED.set()


def test_one_that_knows_one_event_loop_is_found_on_the_other() -> None:
    check_tool(one_loop, execute=True)
    with pytest.raises(AssertionError, match="one_loop: a tool ends alike on each event loop"):
        check_tool(one_loop, execute=True, backends=["asyncio", "trio"])


# --- sound ones -------------------------------------------------------------------------------


@sf.tool(idempotent=True)
def measure(city: str, days: Annotated[int, bounded(ge=1, le=7)] = 1) -> dict[str, int]:
    """Measure the temperature."""
    return {city: days}


@sf.tool
async def counted(n: Annotated[int, bounded(ge=0, le=9)]) -> AsyncIterator[str]:
    """Count, and tell each number."""
    for number in range(n + 2):
        await anyio.lowlevel.checkpoint()
        yield str(number)


@sf.tool
async def slow(city: str) -> str:
    """Take long, and end when it is cancelled."""
    await anyio.sleep(0.2)
    return city


@sf.tool
def failing(city: str) -> sf.Outcome[str, str]:
    """Fail in a typed way."""
    return sf.Failure(f"no city is called {city!r}")


@sf.tool
def raising(city: str) -> str:
    """Raise, as for what does not exist."""
    raise LookupError(city)


class Deps:
    unit = "°C"


@sf.tool
def unit(context: sf.ToolContext[Deps]) -> str:
    """Tell the unit."""
    return context.deps.unit


@pytest.mark.parametrize(
    "tool", [measure, counted, slow, failing, raising], ids=lambda tool: tool.name
)
def test_nothing_is_found_in_what_is_sound(
    tool: sf.AnyTool[object, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tool, "RUNNING", 1.0)
    check_tool(tool, execute=True, backends=["asyncio", "trio"])


# --- drawn arguments --------------------------------------------------------------------------


def _stamped(word: str) -> str:
    return word if word.isascii() else f"{word}-{next(NUMBERS)}"


@frozen
class Stamp:
    word: str = field(converter=_stamped)


@sf.tool
def stamped(stamp: Stamp) -> str:
    """Convert what is not ASCII otherwise each time."""
    return stamp.word


@sf.tool
def rooted(number: int) -> float:
    """Give what has no JSON form, for a number below zero."""
    return math.nan if number < 0 else math.sqrt(number)


@sf.tool
def emptied(words: list[str]) -> str:
    """End the process where there is nothing to do."""
    return words[0] if words else sys.exit("nothing to do")


def _lined(line: str) -> sf.TextOutput:
    if len(line) > 80:
        raise ValueError(len(line))
    return sf.TextOutput(line)


@sf.tool(to_model_output=_lined)
def lined(line: str) -> str:
    """Show a line to the model, if it is not too long."""
    return line


@sf.tool(idempotent=True)
def booked(seats: int, note: str | None = None) -> int:
    """Book anew each time that there is a note."""
    return seats if note is None else next(NUMBERS)


SOME_FAIL: dict[str, tuple[sf.AnyTool[object, object], str]] = {
    "not ASCII": (stamped, 'call:  {"stamp": {"word": "\\u0080"}}'),
    "negative": (rooted, 'call: {"number": -1}'),
    "empty": (emptied, 'call: {"words": []}'),
    "long": (lined, f'call: {{"line": "{"0" * 81}"}}'),
    "with an option": (booked, 'call:  {"seats": 0, "note": ""}'),
}


@pytest.mark.parametrize("kind", SOME_FAIL)
def test_the_smallest_call_that_breaks_a_law_is_told(kind: str) -> None:
    tool, told = SOME_FAIL[kind]

    with pytest.raises(AssertionError) as raised:
        check_tool(tool, execute=True)

    assert str(raised.value).split("\n")[1].strip() == told


@sf.tool(idempotent=True)
def sound(words: list[str], number: int, stamp: str | None = None) -> list[str]:
    """Do the same as they all, soundly."""
    return [*words, str(math.sqrt(abs(number))), (stamp or "")[:80]]


def test_nothing_is_found_in_what_is_sound_for_every_call() -> None:
    check_tool(sound, execute=True)


def test_what_is_bound_otherwise_is_found_without_running_anything() -> None:
    with pytest.raises(AssertionError, match="stamped: arguments are bound alike each time"):
        check_tool(stamped)


def test_arguments_may_be_drawn_by_a_strategy() -> None:
    seen: set[str] = set()

    @sf.tool
    def note(city: str) -> None:
        """Note a city."""
        seen.add(city)

    check_tool(note, arguments=st.just({"city": "Ålesund"}), execute=True)
    assert "Ålesund" in seen
    with pytest.raises(AssertionError, match="note: a tool accepts its arguments"):
        check_tool(note, arguments=st.just({"city": 3}))


def test_no_more_is_run_than_asked_for() -> None:
    seen: list[str] = []

    @sf.tool
    def note(city: str) -> None:
        """Note a city."""
        seen.append(city)

    check_tool(note, execute=True, examples=12)
    assert len(seen) <= 3
    seen.clear()
    check_tool(note, arguments=[{"city": "Oslo"}], execute=True, examples=0)
    assert seen == ["Oslo"]


def test_one_simple_call_needs_no_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_drawn, "find_spec", lambda _: None)
    check_tool(measure, execute=True, examples=0)

    with pytest.raises(sf.UsageError, match="check_tool: expected hypothesis"):
        check_tool(measure)


def test_what_cannot_be_drawn_is_asked_for() -> None:
    schema = {
        "type": "object",
        "properties": {"code": {"type": "string", "pattern": "^[a-z]{40}$", "maxLength": 3}},
        "required": ["code"],
    }
    locked = sf.dynamic_tool(
        name="locked", description="Open a lock.", input_schema=schema, execute=lambda _, __: None
    )

    with pytest.raises(sf.UsageError, match="found no arguments that locked accepts; give some"):
        check_tool(locked)


def test_a_tool_gets_its_deps() -> None:
    check_tool(unit, deps=Deps(), execute=True)


def test_nothing_is_run_unless_it_may_be() -> None:
    check_tool(quitting)
    check_tool(endless)


def test_the_call_that_breaks_a_law_is_told() -> None:
    with pytest.raises(AssertionError) as raised:
        check_tool(quitting, arguments=[{"city": "Oslo"}], execute=True)

    assert str(raised.value).splitlines() == [
        "quitting: a tool returns, or raises an Exception",
        '  call: {"city": "Oslo"}',
        "  came: SystemExit: Oslo",
        "  on:   asyncio",
    ]


def test_arguments_that_are_not_accepted_are_told() -> None:
    with pytest.raises(AssertionError, match="measure: a tool accepts its arguments"):
        check_tool(measure, arguments=[{"city": "Oslo", "days": 9}])


def test_what_is_no_tool_is_refused() -> None:
    with pytest.raises(sf.UsageError, match=r"expected a tool, made by @sf.tool, got <built-in"):
        check_tool(len)  # type: ignore[arg-type]
