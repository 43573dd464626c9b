"""What is found of each law by itself; and the laws are told in one way everywhere."""

import itertools
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

import stepfold as sf
from stepfold.testing.conformance import (
    CONDITION_LAWS,
    MIDDLEWARE_LAWS,
    STAGE_LAWS,
    TOOL_LAWS,
    TRANSFORM_LAWS,
    LawBroken,
    StatedLaw,
    _watched,
    check_middleware,
    check_stage,
    check_stop_condition,
    check_tool,
    check_transform,
    verdicts_of,
)

HOW_TO: Final = Path(__file__).parents[3] / "docs" / "how-to"
NUMBERS = itertools.count()

STATED: dict[str, tuple[Callable[..., None], Sequence[StatedLaw]]] = {
    "check-tools": (check_tool, TOOL_LAWS),
    "check-stages": (check_stage, STAGE_LAWS),
    "check-stop-conditions": (check_stop_condition, CONDITION_LAWS),
    "check-middleware": (check_middleware, MIDDLEWARE_LAWS),
    "check-transforms": (check_transform, TRANSFORM_LAWS),
}


@pytest.mark.parametrize("page", STATED)
def test_the_page_of_a_check_tells_its_laws(page: str) -> None:
    _, laws = STATED[page]
    rows = re.findall(
        r"^\| (.+) \| (.+) \|$", (HOW_TO / f"{page}.md").read_text("utf-8"), re.MULTILINE
    )

    assert rows == [
        ("law", "what breaks it"),
        ("---", "---"),
        *((law.says, law.broken_by) for law in laws),
    ]


@pytest.mark.parametrize("page", STATED)
def test_the_docstring_of_a_check_tells_its_laws_in_order(page: str) -> None:
    check, laws = STATED[page]
    points = re.split(r"\n\s*- ", check.__doc__ or "")[1:]

    assert len(points) == len(laws)
    for point, law in zip(points, laws, strict=True):
        assert law.says in " ".join(point.split())


# --- verdicts ---------------------------------------------------------------------------------


@sf.stage
def faulty(words: list[str]) -> int:
    """Sorts what it was given, fails for some, and counts."""
    words.sort()
    if len(words) > 2:
        raise ValueError(words)
    return next(NUMBERS) if len(words) == 1 else 0


def _broken_by(check: Callable[[], None]) -> dict[str, str]:
    return {
        verdict.law.says: verdict.told
        for verdict in verdicts_of(check)
        if verdict.status == "broken"
    }


def test_a_broken_law_hides_no_other_and_each_is_told_at_its_smallest() -> None:
    broken = _broken_by(lambda: check_stage(faulty, execute=True))

    firsts = {law: told.splitlines()[0].split(":", 1)[1].strip() for law, told in broken.items()}
    assert firsts == {
        "a stage gives a value or a failure, and raises nothing": "['', '', '']",
        "a stage leaves its input as it was": "['0', '']",
        "one input has one outcome": "['']",
    }


@sf.tool(idempotent=True)
def mute(word: str) -> object:
    if word:
        raise SystemExit(word)
    return next(NUMBERS)


def test_verdicts_agree_with_the_check_that_stops_at_the_first() -> None:
    def check() -> None:
        check_tool(mute, execute=True)

    with pytest.raises(LawBroken) as raised:
        check()
    verdicts = verdicts_of(check)
    first = next(verdict for verdict in verdicts if verdict.status == "broken")

    assert (first.law, first.told) == (raised.value.law, raised.value.counter_example)
    assert [verdict.law for verdict in verdicts] == [*TOOL_LAWS]
    assert {verdict.law.says for verdict in verdicts if verdict.status == "broken"} == {
        "a tool tells the model what it does",
        "a tool returns, or raises an Exception",
        "an idempotent tool gives the same when it is run again",
    }


def test_what_cannot_be_tried_for_what_is_broken_is_not_said_to_hold() -> None:
    @sf.stage
    def crashing(word: str) -> str:
        raise LookupError(word)

    verdicts = {it.law.says: it for it in verdicts_of(lambda: check_stage(crashing, execute=True))}

    assert verdicts["a stage gives a value or a failure, and raises nothing"].status == "broken"
    pure = verdicts["one input has one outcome"]
    assert (pure.status, pure.told) == ("not tried", "hidden by what is broken")


def test_what_was_found_before_is_forgotten() -> None:
    verdicts_of(lambda: check_stage(faulty, execute=True))

    with pytest.raises(LawBroken):
        check_stage(faulty, execute=True)


def test_it_is_told_how_much_was_tried() -> None:
    counts: list[int] = []
    verdicts_of(
        lambda: check_stop_condition(sf.is_step_count(2), examples=7), on_progress=counts.append
    )

    assert counts == [*range(1, 8)]


@pytest.mark.parametrize("backends", [[], ["curio"], ["asyncio", "twisted"]])
def test_an_event_loop_that_is_not_there_is_refused(backends: Sequence[str]) -> None:
    with pytest.raises(sf.UsageError, match="check_stage: expected backends from asyncio or trio"):
        check_stage(faulty, backends=backends)
    with pytest.raises(sf.UsageError, match="check_tool: expected backends from asyncio or trio"):
        check_tool(mute, backends=backends)


def test_nothing_drawn_is_nothing_proved() -> None:
    with pytest.raises(sf.UsageError, match="examples: expected a number from 1, got 0"):
        check_stop_condition(sf.is_step_count(2), examples=0)


def test_checks_of_several_things_are_not_mixed() -> None:
    def check() -> None:
        check_stop_condition(sf.is_step_count(2), examples=1)
        check_stop_condition(sf.is_step_count(3), examples=1)

    with pytest.raises(sf.UsageError, match="expected a call of one check, got one of several"):
        verdicts_of(check)


def test_what_never_ends_is_not_said_to_return(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_watched, "PATIENCE", 0.2)
    released = threading.Event()

    @sf.tool
    def waiting() -> None:
        """Wait."""
        released.wait()

    verdicts = verdicts_of(lambda: check_tool(waiting, execute=True, examples=1))
    released.set()

    assert [verdict.law.says for verdict in verdicts if verdict.status == "held"] == [
        "a tool tells the model what it does",
        "a tool accepts its arguments",
        "arguments are bound alike each time",
    ]


@pytest.mark.parametrize("given", [3, {"a": 1}, iter(())])
def test_what_is_neither_a_list_nor_a_strategy_is_refused(given: list[list[str]]) -> None:
    with pytest.raises(sf.UsageError, match="check_stage: expected a list or a strategy, got"):
        check_stage(faulty, given=given)


def test_what_is_no_check_with_stated_laws_is_refused() -> None:
    with pytest.raises(sf.UsageError, match="expected a call of a check with stated laws"):
        verdicts_of(lambda: None)
