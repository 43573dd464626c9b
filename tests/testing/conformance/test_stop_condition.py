"""`check_stop_condition` finds every planted fault, and nothing in their sound twins."""

import random
from collections.abc import Callable
from typing import final

import pytest

import stepfold as sf
from stepfold.testing.conformance import check_stop_condition

STOP = sf.Stop("enough", sf.JsonText("3"))


def _equality(progress: sf.Progress) -> sf.Stop | None:
    """Compares with ==, so a run that gets past it never stops."""
    return STOP if len(progress.steps) == 3 else None


@final
class _Counting:
    """Counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, progress: sf.Progress) -> sf.Stop | None:
        self.asked += 1
        return STOP if self.asked > 5 else None


def _raising(progress: sf.Progress) -> sf.Stop | None:
    """Takes for granted that every step calls a tool."""
    return STOP if progress.last.tool_calls[0].tool_name == "send" else None


def _unknown(progress: sf.Progress) -> sf.Stop | None:
    """Takes for granted that usage is known."""
    total = progress.usage.total_tokens
    return STOP if total > 100 else None  # type: ignore[operator]


def _boolean(progress: sf.Progress) -> sf.Stop | None:
    """Answers with a bool."""
    return len(progress.steps) >= 3  # type: ignore[return-value]


def _nameless(progress: sf.Progress) -> sf.Stop | None:
    return sf.Stop("", sf.JsonText("null")) if len(progress.steps) >= 3 else None


def _chancy(progress: sf.Progress) -> sf.Stop | None:
    return STOP if len(progress.steps) > random.randint(1, 4) else None


_SEEN: list[sf.Progress] = []


def _identity(progress: sf.Progress) -> sf.Stop | None:
    """Knows a run by the object that it is given."""
    if any(progress is seen for seen in _SEEN):
        return STOP
    _SEEN.append(progress)
    return None


def _last_step(progress: sf.Progress) -> sf.Stop | None:
    """Looks at the last step alone, and is not said to."""
    return STOP if not progress.last.tool_calls else None


FAULTS: dict[str, tuple[Callable[[sf.Progress], sf.Stop | None], str]] = {
    "compares with equality": (_equality, "what stops a run stops every longer one"),
    "counts its questions": (_Counting(), "one question has one answer"),
    "expects a call": (_raising, "raises nothing"),
    "expects known usage": (_unknown, "raises nothing"),
    "answers with a bool": (_boolean, "answers with a Stop that has a name"),
    "gives no name": (_nameless, "answers with a Stop that has a name"),
    "throws dice": (_chancy, "one question has one answer"),
    "knows objects": (_identity, "one question has one answer"),
    "looks at the last step": (_last_step, "what stops a run stops every longer one"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault: str) -> None:
    condition, law = FAULTS[fault]
    random.seed(1)

    with pytest.raises(AssertionError, match=law):
        check_stop_condition(condition)


@pytest.mark.parametrize(
    "condition",
    [
        sf.is_step_count(3),
        sf.is_step_count(1) & sf.is_step_count(4),
        sf.token_budget(50),
        sf.tool_call_budget(3, tool="send"),
        sf.stop_if(lambda progress: len(progress.steps) > 2, "long"),
        sf.never,
        sf.always,
    ],
    ids=str,
)
def test_nothing_is_found_in_what_is_sound(condition: sf.StopCondition) -> None:
    check_stop_condition(condition)


def test_what_looks_at_the_last_step_says_so() -> None:
    check_stop_condition(_last_step, is_monotone=False)
    check_stop_condition(sf.has_tool_call("send"), tools=["send"], is_monotone=False)


def test_the_smallest_run_is_told() -> None:
    with pytest.raises(AssertionError) as raised:
        check_stop_condition(_equality)

    told = str(raised.value).splitlines()
    assert told == [
        "_equality: what stops a run stops every longer one",
        "  run:           4 steps (text | text | text | text), unknown usage",
        "  after 3 steps: it stops: enough",
        "  after 4 steps: it goes on",
        "  remedy:        compare with >= what only grows, or say is_monotone=False",
    ]


async def _async(progress: sf.Progress) -> sf.Stop | None:
    return None


@pytest.mark.parametrize("wrong", [_async, 3, None])
def test_what_is_no_condition_is_refused(wrong: sf.StopCondition) -> None:
    with pytest.raises(sf.UsageError, match="expected a plain function of Progress, got"):
        check_stop_condition(wrong)
