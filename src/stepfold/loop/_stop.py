"""Stop conditions: why to stop, or not.

A condition is a pure function of `Progress`; it is asked between steps, only when there is a
reason to go on. As to *whether* they stop, conditions form a Boolean algebra; the reason is that
of the first one that fires, in the order listed. The counting ones are monotone: once they stop,
they stop for every longer run; those that look at the last steps say that they are not. `negate`
reverses that.

These conditions compare what is already spent and reserve nothing: for a bound that holds, use
`Limits`.
"""

import math
import re
from collections.abc import Callable
from typing import Protocol, TypeAlias, final, overload

from attrs import field, frozen
from typing_extensions import override

from stepfold.values import (
    Failure,
    Instant,
    JsonText,
    StepResult,
    Stop,
    Success,
    ToolError,
    ToolResult,
    Usage,
    UsageError,
    without_lone_surrogates,
)

SECOND = 1_000_000_000


class Named(Protocol):
    """Anything with a name, such as a tool."""

    @property
    def name(self) -> str:
        """The name that the model knows."""
        ...


@final
@frozen(order=False)
class Progress:
    """How far a run has come, as a stop condition sees it; every question costs O(1).

    Instants are nanoseconds. `usage` is what all replies together reported, and `cost` what they
    cost, in micro-units; `None` if that of one is unknown.
    """

    steps: tuple[StepResult, ...]
    usage: Usage
    now: Instant
    started: Instant
    _called: tuple[tuple[str, int], ...] = field(default=(), alias="called", repr=False)
    cost: int | None = field(default=None, kw_only=True)

    @property
    def last(self) -> StepResult:
        """The step that has just come to rest.

        Raises:
            UsageError: no step has been taken; conditions are never asked then.
        """
        if not self.steps:
            msg = "no step has been taken yet: test `progress.steps` first"
            raise UsageError(msg)
        return self.steps[-1]

    def calls_of(self, tool: str | Named) -> int:
        """How often the model has called a known tool in all steps, refused calls included."""
        name = tool if isinstance(tool, str) else tool.name
        return next((count for called, count in self._called if called == name), 0)

    @property
    def total_calls(self) -> int:
        """How often the model has called known tools in all steps, refused calls included."""
        return sum(count for _, count in self._called)


StopCondition: TypeAlias = Callable[[Progress], Stop | None]
"""Why to stop, or None. Any function of this shape is one; nothing needs to be registered."""


@final
@frozen(order=False, eq=False)
class Condition:
    """A stop condition with a name and operators: `a | b`, `a & b`, `~a`."""

    name: str
    _decide: StopCondition = field(alias="decide", repr=False)

    def __call__(self, progress: Progress, /) -> Stop | None:
        """Ask the condition."""
        return self._decide(progress)

    def __or__(self, other: StopCondition, /) -> "Condition":
        return any_of(self, other)

    def __ror__(self, other: StopCondition, /) -> "Condition":
        return any_of(other, self)

    def __and__(self, other: StopCondition, /) -> "Condition":
        return all_of(self, other)

    def __rand__(self, other: StopCondition, /) -> "Condition":
        return all_of(other, self)

    def __invert__(self) -> "Condition":
        return negate(self)

    @override
    def __str__(self) -> str:
        return self.name


def condition_name(condition: StopCondition) -> str:
    """The name of a condition: its own, or that of its function."""
    if isinstance(condition, Condition):
        return condition.name
    name: object = getattr(condition, "__qualname__", None)
    return name if isinstance(name, str) else type(condition).__qualname__


def _required(condition: object, where: str) -> None:
    if not callable(condition):
        msg = f"{where}: expected a stop condition (a function of Progress), got {condition!r}"
        raise UsageError(msg)


def any_of(*conditions: StopCondition) -> Condition:
    """Stop as soon as one of these does, for the reason of the first; `any_of()` is `never`."""
    for condition in conditions:
        _required(condition, "any_of")

    def decide(progress: Progress) -> Stop | None:
        for condition in conditions:
            stop = condition(progress)
            if stop is not None:
                return stop
        return None

    return Condition(f"any_of({', '.join(map(condition_name, conditions))})", decide)


def all_of(*conditions: StopCondition) -> Condition:
    """Stop when all of these do, for the reason of the first; `all_of()` is `always`."""
    for condition in conditions:
        _required(condition, "all_of")
    name = f"all_of({', '.join(map(condition_name, conditions))})"

    def decide(progress: Progress) -> Stop | None:
        first: Stop | None = None
        for condition in conditions:
            stop = condition(progress)
            if stop is None:
                return None
            first = first or stop
        return first or Stop(name)

    return Condition(name, decide)


def negate(condition: StopCondition) -> Condition:
    """Stop exactly when the other one does not. The negation of a monotone one is not monotone."""
    _required(condition, "negate")
    name = f"negate({condition_name(condition)})"

    def decide(progress: Progress) -> Stop | None:
        return Stop(name) if condition(progress) is None else None

    return Condition(name, decide)


def stop_if(predicate: Callable[[Progress], bool], /, reason: str) -> Condition:
    """Stop when the predicate holds, for the reason given."""
    _required(predicate, "stop_if")

    def decide(progress: Progress) -> Stop | None:
        return Stop(reason) if predicate(progress) else None

    return Condition(reason, decide)


never: Condition = any_of()
"""Never stops: the run goes on until the model has nothing more to do, or a limit is met."""

always: Condition = all_of()
"""Stops after the first step."""


def _whole(name: str, given: object) -> None:
    if type(given) is not int or given < 0:
        msg = f"{name}: expected a whole number that is not negative, got {given!r}"
        raise UsageError(msg)


def _time(name: str, given: object) -> None:
    if not isinstance(given, int | float) or not 0 <= given < math.inf:
        msg = f"{name}: expected seconds that are not negative, got {given!r}"
        raise UsageError(msg)


def _counted(
    name: str, count: Callable[[Progress], int], limit: int, *, shown: str | None = None
) -> Condition:
    _whole(name, limit)

    def decide(progress: Progress) -> Stop | None:
        reached = count(progress)
        if reached < limit:
            return None
        return Stop(name, JsonText(f'{{"reached":{reached},"limit":{limit}}}'))

    return Condition(f"{name}({limit if shown is None else shown})", decide)


def is_step_count(count: int) -> Condition:
    """Stop after this many steps, or more. Monotone."""
    return _counted("is_step_count", lambda progress: len(progress.steps), count)


def token_budget(tokens: int) -> Condition:
    """Stop once this many tokens are spent. Monotone; unknown usage counts as nothing."""
    return _counted("token_budget", lambda progress: progress.usage.total_tokens or 0, tokens)


def cost_budget(micro_units: int) -> Condition:
    """Stop once the replies have cost this much, or what they cost is not known. Monotone.

    What a reply cost is known if its model has a price and it reported its tokens. The evidence
    is `{"reached":…,"limit":…}`, with `null` for what is not known.
    """
    _whole("cost_budget", micro_units)

    def decide(progress: Progress) -> Stop | None:
        cost = progress.cost
        if cost is not None and cost < micro_units:
            return None
        return Stop("cost_budget", JsonText.of({"reached": cost, "limit": micro_units}))

    return Condition(f"cost_budget({micro_units})", decide)


def tool_call_budget(calls: int, /, *, tool: str | Named | None = None) -> Condition:
    """Stop once the model has made this many calls, of one tool or of all. Monotone."""
    if tool is None:
        return _counted("tool_call_budget", lambda progress: progress.total_calls, calls)
    chosen = tool
    return _counted("tool_call_budget", lambda progress: progress.calls_of(chosen), calls)


def has_tool_call(*tools: str | Named) -> Condition:
    """Stop once any of these tools has been called in any step. Monotone.

    Raises:
        UsageError: no tool was named.
    """
    if not tools:
        msg = "has_tool_call: expected at least one tool or name of a tool, got none"
        raise UsageError(msg)
    names = tuple(tool if isinstance(tool, str) else tool.name for tool in tools)

    def decide(progress: Progress) -> Stop | None:
        called = next((name for name in names if progress.calls_of(name)), None)
        return None if called is None else Stop("has_tool_call", JsonText.of({"tool": called}))

    return Condition(f"has_tool_call({', '.join(names)})", decide)


@overload
def deadline(*, at: Instant, after: None = None) -> Condition: ...
@overload
def deadline(*, at: None = None, after: float) -> Condition: ...
def deadline(*, at: Instant | None = None, after: float | None = None) -> Condition:
    """Stop at the first step that ends at this instant, or so many seconds after the start.

    Monotone. Time is that of the events, so a run that waited for a person has used up time. The
    evidence is in nanoseconds: the instant reached, or the time that the run has taken.

    Args:
        at: An instant, in nanoseconds since 1970-01-01 UTC.
        after: Seconds since the run began.

    Raises:
        UsageError: neither or both are given, or a figure is negative or not finite.
    """
    if at is not None and after is None:
        return _counted("deadline", lambda progress: progress.now, at, shown=f"at={at}")
    if after is not None and at is None:
        _time("deadline", after)
        taken: Callable[[Progress], int] = lambda progress: progress.now - progress.started  # noqa: E731
        return _counted("deadline", taken, int(after * SECOND), shown=f"after={after!r}")
    given = "neither" if at is None else "both"
    msg = f"deadline: expected an instant (at=…) or seconds (after=…), got {given}"
    raise UsageError(msg)


def stalled(times: int) -> Condition:
    """Stop once so many steps in a row made the same calls and got the same results.

    Arguments are compared as JSON, results with their errors. A step without a call, or one whose
    calls are not all answered yet, breaks the row. Not monotone: another call may get the run
    moving again.

    Raises:
        UsageError: fewer than two times are no repetition.
    """
    if type(times) is not int or times < 2:
        msg = f"stalled: expected a whole number from 2, got {times!r}"
        raise UsageError(msg)

    def decide(progress: Progress) -> Stop | None:
        if len(progress.steps) < times:
            return None
        done = _done_in(progress.last)
        if done is None or any(_done_in(step) != done for step in progress.steps[-times:]):
            return None
        tools = [name for name, _, _ in done]
        return Stop("stalled", JsonText.of({"times": times, "tools": tools}))

    return Condition(f"stalled({times})", decide)


_Done: TypeAlias = tuple[tuple[str, str, object], ...]


def _done_in(step: StepResult) -> _Done | None:
    """Each call of a step with its arguments and what came of it; `None` if one is unanswered."""
    answers: dict[str, object] = {}
    for part in step.content:
        match part:
            case ToolResult(call_id, _, output):
                answers[call_id] = (output, part.value)
            case ToolError(call_id, _, error):
                answers[call_id] = (part.kind, error, part.value)
            case _:
                pass
    calls = step.tool_calls
    if not calls or any(call.tool_call_id not in answers for call in calls):
        return None
    return tuple(
        (without_lone_surrogates(call.tool_name), _same(call.input), answers[call.tool_call_id])
        for call in calls
    )


def _same(text: str) -> str:
    """A text that is equal for arguments that are equal as JSON."""
    match JsonText.parse(text if text.strip() else "{}"):
        case Success(document):
            return document.canonical()
        case Failure(_):
            return text


def text_matches(pattern: str | re.Pattern[str]) -> Condition:
    """Stop once the text of a step matches a regular expression, anywhere in it.

    Looks at the last step alone, and is asked only if the model wants to go on: at a final answer
    the run ends in any case. Not monotone.

    Raises:
        UsageError: the pattern is no regular expression for text.
    """
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError) as error:
        msg = f"text_matches: expected a regular expression, got {pattern!r}: {error}"
        raise UsageError(msg) from None
    if not _is_text(compiled.pattern):
        msg = f"text_matches: expected a regular expression for text, got {pattern!r}"
        raise UsageError(msg)

    def decide(progress: Progress) -> Stop | None:
        found = compiled.search(progress.last.text)
        if found is None:
            return None
        matched = without_lone_surrogates(found.group()[:_SHOWN])
        return Stop("text_matches", JsonText.of({"matched": matched}))

    return Condition(f"text_matches({compiled.pattern!r})", decide)


def _is_text(given: object) -> bool:
    return isinstance(given, str)


_SHOWN = 200


def is_loop_finished() -> Condition:
    """Never stops by itself: the run ends when the model has nothing more to do. The AI SDK's."""
    return Condition("is_loop_finished", lambda _: None)
