"""The check of a stop condition: a pure, named, and mostly monotone function of the progress."""

import inspect
from collections.abc import Callable, Sequence
from typing import Final, Never, final

from attrs import evolve
from typing_extensions import TypeIs

from stepfold.loop import Progress, StopCondition
from stepfold.testing.conformance._drawn import hold, name_of, require_hypothesis
from stepfold.testing.conformance._findings import Findings, StatedLaw, break_law, findings_on
from stepfold.testing.laws import progress_of
from stepfold.values import Stop, ToolCall, UsageError

_TOOLS: Final = ("look", "send")

_RAISES: Final = StatedLaw(
    "a stop condition raises nothing",
    "`progress.last.tool_calls[0]`; arithmetic with usage that is unknown",
)
_ANSWERS: Final = StatedLaw(
    "a stop condition answers with a Stop that has a name, or with None", "`return True`"
)
_PURE: Final = StatedLaw(
    "one question has one answer, whenever it is asked",
    "a counter, a clock, dice; knowing objects by `is`",
)
_MONOTONE: Final = StatedLaw("what stops a run stops every longer one", "`==` where `>=` is meant")

CONDITION_LAWS: Final = (_RAISES, _ANSWERS, _PURE, _MONOTONE)
"""What `check_stop_condition` asks of a stop condition, in the order in which it is told."""


def check_stop_condition(
    condition: StopCondition,
    *,
    tools: Sequence[str] = _TOOLS,
    is_monotone: bool = True,
    max_steps: int = 8,
    examples: int = 100,
) -> None:
    """Check a stop condition against the laws of stop conditions (law 10).

    It is asked about drawn runs of up to `max_steps` steps, in which a model calls `tools`: name
    those that it looks at. A condition keeps the laws if

    - a stop condition raises nothing;
    - a stop condition answers with a Stop that has a name, or with None;
    - one question has one answer, whenever it is asked: whatever else was asked in between, and
      where a question is made of equal values;
    - what stops a run stops every longer one, so that no step can be jumped over; say
      `is_monotone=False` of one that looks at the last step alone, or at a window.

    Raises:
        AssertionError: a law does not hold; the text tells the smallest run that breaks it.
        UsageError: this is no plain function, or hypothesis (the extra `testing`) is missing.
    """
    require_hypothesis("check_stop_condition")
    from stepfold.testing.strategies import progresses

    given: object = condition
    if not callable(given) or inspect.iscoroutinefunction(given):
        msg = f"check_stop_condition: expected a plain function of Progress, got {given!r:.200}"
        raise UsageError(msg)
    findings = findings_on(CONDITION_LAWS)
    asked = _Asked(condition, findings)
    if not is_monotone:
        findings.leave_out("is_monotone=False says so", _MONOTONE)

    def check(progress: Progress) -> None:
        runs = [progress_of(progress, count) for count in range(1, len(progress.steps) + 1)]
        answers = [asked.about(run) for run in runs]
        with findings.trying(_PURE):
            asked.again(runs, answers)
        if is_monotone:
            with findings.trying(_MONOTONE):
                asked.monotone(runs, answers)

    drawn = progresses(max_steps=max_steps, tools=tuple(tools))
    hold(findings, check, drawn, examples=examples)


@final
class _Asked:
    """A condition that is asked, and what it must not do."""

    def __init__(self, condition: StopCondition, findings: Findings) -> None:
        self._condition: Final = condition
        self._findings: Final = findings
        self._name: Final = name_of(condition)

    def about(self, progress: Progress) -> Stop | None:
        """Ask once."""
        try:
            answer: object = self._condition(progress)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            came = f"{type(error).__name__}: {error}"
            self._broken(_RAISES, run=told(progress), came=came)
        self._findings.tried(_RAISES)
        if answer is None:
            self._findings.tried(_ANSWERS)
            return None
        if not _is_stop(answer):
            self._broken(
                _ANSWERS,
                run=told(progress),
                came=f"{answer!r:.200}",
                remedy="return Stop(name, …), or make it of a predicate by stop_if",
            )
        if not answer.name:
            self._broken(_ANSWERS, run=told(progress), came=f"{answer!r:.200}")
        self._findings.tried(_ANSWERS)
        return answer

    def again(self, runs: Sequence[Progress], answers: Sequence[Stop | None]) -> None:
        """Ask everything once more, from the end, and with equal values that are others."""
        copies: tuple[Callable[[Progress], Progress], ...] = (lambda it: it, evolve)
        for copied in copies:
            for run, first in reversed([*zip(runs, answers, strict=True)]):
                second = self.about(copied(run))
                if second != first:
                    self._broken(
                        _PURE,
                        run=told(run),
                        first=_answer(first),
                        then=_answer(second),
                    )

    def monotone(self, runs: Sequence[Progress], answers: Sequence[Stop | None]) -> None:
        """Look for a run that goes on after a shorter one would have stopped."""
        for shorter, stop in enumerate(answers):
            for longer in range(shorter + 1, len(answers)):
                if stop is not None and answers[longer] is None:
                    self._broken(
                        _MONOTONE,
                        run=told(runs[longer]),
                        **{
                            f"after {_steps(shorter + 1)}": _answer(stop),
                            f"after {_steps(longer + 1)}": "it goes on",
                        },
                        remedy="compare with >= what only grows, or say is_monotone=False",
                    )

    def _broken(self, law: StatedLaw, **told: object) -> Never:
        break_law(self._name, law, **told)


def _is_stop(answer: object) -> TypeIs[Stop]:
    return type(answer) is Stop


def _answer(stop: Stop | None) -> str:
    return "it goes on" if stop is None else f"it stops: {stop.name}"


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"


def told(progress: Progress) -> str:
    """A run in few words: its steps, what each called, and what was spent."""
    calls = (
        ", ".join(part.tool_name for part in step.content if isinstance(part, ToolCall)) or "text"
        for step in progress.steps
    )
    usage = progress.usage.total_tokens
    spent = "unknown usage" if usage is None else f"{usage} tokens"
    return f"{_steps(len(progress.steps))} ({' | '.join(calls)}), {spent}"
