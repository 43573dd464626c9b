"""`Run`: what a finished, stopped or blocked run holds."""

from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, Never, cast, final, overload

from attrs import field, frozen
from typing_extensions import TypeVar, override

from stepfold.agent._output import Output
from stepfold.loop import Done, LoopState, open_requests
from stepfold.shell import AnyTool, decoded_result
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    ContentOutput,
    Failed,
    Failure,
    HookFailed,
    JsonOutput,
    JsonText,
    Message,
    ModelErrorReason,
    ModelWarning,
    NoOutput,
    OpenApproval,
    Outcome,
    RunEnd,
    RunError,
    StepfoldError,
    StepResult,
    Stop,
    Stopped,
    Success,
    TextOutput,
    ToolChoiceViolated,
    ToolMessage,
    ToolResult,
    UnpairedPrompt,
    Usage,
    UsageError,
)

Out_co = TypeVar("Out_co", covariant=True)
S = TypeVar("S", default=Never)
X = TypeVar("X", default=Never)
T = TypeVar("T")


class RunFailed(StepfoldError):
    """A run could not go on, or has no output; `run` holds everything until then.

    `error` is why, as a value; `None` where the run did not fail but was stopped, blocked or
    cancelled before it had an output.
    """

    __module__ = "stepfold"  # as all exceptions: see `stepfold.values`

    def __init__(self, run: "Run[object]", message: str, error: RunError | None = None) -> None:
        super().__init__(message)
        self.run: Run[object] = run
        self.error: RunError | None = error

    @override
    def __reduce__(self) -> tuple[type["RunFailed"], tuple["Run[object]", str, RunError | None]]:
        return (RunFailed, (self.run, str(self), self.error))


@final
@frozen(eq=False, repr=False)
class Run(Generic[Out_co]):
    """A run, at rest or at its end: always whole, however it ended."""

    state: LoopState
    _output: Output[Out_co] = field(alias="output")
    _made: Mapping[JsonText, object] = field(alias="made", factory=dict[JsonText, object])

    @override
    def __repr__(self) -> str:
        end = type(self.end).__name__.lower()
        return f"<Run {self.id}: {end} after {len(self.steps)} steps>"

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.state.identity.run

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """The steps that came to rest, in order."""
        return self.state.steps

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole history, ready to be sent again with another message after it."""
        return self.state.messages

    @property
    def usage(self) -> Usage:
        """What all replies together reported."""
        return self.state.usage

    @property
    def cost(self) -> int | None:
        """What all replies together cost, in micro-units, by the agent's `prices`.

        `None` is unknown: the model of a reply has no price, or the reply told no tokens. Attempts
        that failed without telling what they took are not in it.
        """
        return self.state.cost

    @property
    def warnings(self) -> tuple[ModelWarning, ...]:
        """The warnings of all steps, and one if the run was cut by a default of the agent."""
        said = tuple(warning for step in self.state.steps for warning in step.warnings)
        match self.end:
            case Stopped(Stop("is_step_count", evidence)) if "default" in evidence.text:
                return (*said, _CUT_BY_DEFAULT)
            case _:
                return said

    @property
    def text(self) -> str:
        """The text of the last step; empty if there was none."""
        return self.state.steps[-1].text if self.state.steps else ""

    @cached_property
    def output(self) -> Outcome[Out_co, NoOutput]:
        """The promised output, or why there is none; that of a wrap-up counts."""
        phase = self.state.phase
        if isinstance(phase, Done) and phase.output is not None:
            if phase.output in self._made:  # the validators have been asked, and are not again
                return Success(cast("Out_co", self._made[phase.output]))
            return self._output.decode(phase.output)
        steps = self.state.steps
        finish_reason = steps[-1].finish_reason.unified if steps else None
        message = f"the run has no output: {self._told()}"
        if isinstance(phase, Done) and isinstance(phase.end, Failed):
            error = phase.end.error
            if isinstance(error, NoOutput):
                return Failure(error)
            message = error.message
        return Failure(NoOutput(message, self.text, finish_reason=finish_reason))

    @cached_property
    def end(self) -> RunEnd[Out_co]:
        """How the run ended, or `Blocked` if it rests."""
        phase = self.state.phase
        if not isinstance(phase, Done):
            return Blocked(open_requests(self.state))
        match phase.end:
            case Completed():
                match self.output:
                    case Success(value):
                        return Completed(value)
                    case Failure(error):
                        return Failed(error)
            case Stopped() | Blocked() | Failed() | Cancelled() as end:
                return end

    @property
    def open_approvals(self) -> tuple[OpenApproval, ...]:
        """What people are asked before the run can go on: answer with `approve` or `deny`.

        In call order; none unless the run is blocked. Calls that wait for a client are not among
        them: see `Blocked.open`.
        """
        return tuple(
            request for request in open_requests(self.state) if isinstance(request, OpenApproval)
        )

    def unwrap(self) -> Out_co:
        """Give the output.

        Raises:
            RunFailed: there is none; the text says how the run ended.
        """
        match self.output:
            case Success(value):
                return value
            case Failure(error):
                end = self.end
                if isinstance(end, Failed):
                    raise RunFailed(self, failure_text(end.error), end.error)
                raise RunFailed(self, error.message)

    def _told(self) -> str:
        phase = self.state.phase
        if not isinstance(phase, Done):
            return f"it is blocked on {len(open_requests(self.state))} open requests"
        match phase.end:
            case Stopped(stop):
                return f"it was stopped by {stop.name}"
            case Cancelled(reason):
                return f"it was cancelled: {reason}"
            case Completed() | Blocked() | Failed():
                return "it ended"

    @overload
    def results_of(self, tool: AnyTool[Never, AsyncIterator[T]], /) -> tuple[T, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Iterator[T]], /) -> tuple[T, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Awaitable[Outcome[S, X]]], /) -> tuple[S, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Awaitable[T]], /) -> tuple[T, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Outcome[S, X]], /) -> tuple[S, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, T], /) -> tuple[T, ...]: ...
    def results_of(self, tool: AnyTool[Never, object], /) -> object:
        """Give what this tool returned in all steps, in order; failed calls are left out.

        Those that a given history already held are no part of this run. Results are decoded by
        the returned type of the tool; without an annotation that has a JSON form, they are plain
        JSON: dicts, lists and so on.

        Raises:
            UsageError: a stored result does not fit the tool's returned type, or this is no tool.
        """
        if not _is_tool(tool):
            raise UsageError(f"results_of: expected a tool itself, got {tool!r:.200}")
        return tuple(
            _decoded(tool, part)
            for part in self._results()
            if part.tool_name == tool.name and not part.provider_executed and _is_success(part)
        )

    def _results(self) -> Iterator[ToolResult]:
        """What the calls of this run were answered with, in the order of settling."""
        for step in self.state.steps:
            yield from _results_in(step.late)
            yield from step.tool_results
        yield from _results_in(self.state.transcript.late)


_CUT_BY_DEFAULT = ModelWarning(
    "other",
    "stop_when",
    "the agent was given no stop_when, so that the run was stopped after 20 steps: give "
    "stop_when=is_step_count(…), or never",
)


def _is_tool(given: object) -> bool:
    return isinstance(given, AnyTool)


def _results_in(messages: Iterable[Message]) -> Iterator[ToolResult]:
    for message in messages:
        if isinstance(message, ToolMessage):
            for part in message.content:
                if isinstance(part, ToolResult):
                    yield part


def failure_text(error: RunError) -> str:
    """Why a run failed, in words for who wrote the program."""
    match error:
        case ModelErrorReason():
            return f"the model gave no reply: {error}"
        case ToolChoiceViolated(message):
            return f"the tool choice was not honoured: {message}"
        case NoOutput(message, text):
            said = f"; it said {text[:200]!r}" if text and text not in message else ""
            return f"the model gave no output of the promised type: {message}{said}"
        case HookFailed(hook, exception):
            rest = "; return Stop(…) or None, or use stop_if(…)" if "returned" in exception else ""
            return f"{hook} failed: {exception}{rest}"
        case UnpairedPrompt(message):
            return f"the prompt cannot be sent: {message}"


def _is_success(part: ToolResult) -> bool:
    return isinstance(part.output, TextOutput | JsonOutput | ContentOutput)


def _decoded(tool: AnyTool[Never, object], part: ToolResult) -> object:
    match decoded_result(tool, part.json):
        case Success(value):
            return value
        case Failure(message):
            raise UsageError(message)
