"""Tools that answer as they once did."""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Never, TypeAlias, TypeVar, cast, final

from attrs import frozen
from typing_extensions import override

from stepfold.loop import ToolSpec
from stepfold.schema import Parameters, encode_result
from stepfold.shell import AnyTool, ToolContext, decoded_result
from stepfold.testing._divergence import Divergence, closest_of
from stepfold.testing._exchange import Exchange
from stepfold.testing._fingerprint import canonical_text
from stepfold.values import (
    AssistantMessage,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    Failure,
    JsonText,
    Message,
    StepResult,
    Success,
    ToolCall,
    ToolError,
    ToolErrorKind,
    ToolFault,
    ToolMessage,
    ToolResult,
    UsageError,
    parse_json,
)

D = TypeVar("D")
T = TypeVar("T")
D_contra = TypeVar("D_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)

_RAN: Final[frozenset[ToolErrorKind]] = frozenset({"failed", "timeout"})


@final
class NeverRecorded(UsageError):
    """A mocked tool was called as it never was in the recording.

    `tool` is its name, and `divergence` the first difference between the arguments of the closest
    recorded call and these; `None` if no call of the tool was recorded.
    """

    __module__ = "stepfold.testing"

    def __init__(self, message: str, tool: str, divergence: Divergence | None) -> None:
        super().__init__(message)
        self.tool: str = tool
        self.divergence: Divergence | None = divergence


def mock_tool(tool: AnyTool[D, T], recorded: Iterable[StepResult | Exchange], /) -> AnyTool[D, T]:
    """A tool that answers with what it gave in a recorded run, and whose function never runs.

    To the model and to the program it is the same tool: name, schema, options and so the program's
    fingerprint are those of the given one, and results are typed as before. A call is found by its
    arguments, defaults filled in. Of calls with equal arguments, each gets what was given at its
    own place in the run, else the next result that is left, else the last one again; each run
    begins anew. A call that failed fails with the same words. Calls that never ran (refused
    arguments, limits) are left out: they are decided anew.

        recorded = await agent.generate("Is it warm in Oslo?", deps=deps)
        tools = [mock_tool(weather, recorded.steps)]

    Tools that `calls=` names are called by their callers and not by name: mock the caller.

    Args:
        tool: A tool whose function runs here.
        recorded: The steps of a run (`Run.steps`, or `Recording.steps` of a journal), or the script
            of a `ScriptRecorder`, which knows only what the model was told.

    Raises:
        UsageError: a client runs this tool, or a recorded result does not fit its returned type.
            When the mock is called with arguments that were not recorded, it raises
            `NeverRecorded`, which a run tells to the model as it tells any error of a tool.
    """
    if not tool.options.executes:
        msg = f"mock_tool: expected a tool that runs here, got {tool.name}, which a client answers"
        raise UsageError(msg)
    return _MockedTool(tool, _answers_of(tool, recorded))


@final
@frozen(order=False)
class _Answered:
    """A recorded call: its place in the run (`step/index`, if known), its arguments, its answer.

    Arguments are JSON; the answer is a value, or the text of an error, maybe with a value.
    """

    place: str
    arguments: str
    value: object = None
    error: str | None = None


@final
class _MockedTool(AnyTool[D_contra, T_co]):
    """The tool that `mock_tool` makes of another."""

    def __init__(self, tool: AnyTool[D_contra, T_co], answers: Sequence[_Answered]) -> None:
        self._mocked: Final = tool
        self._answers: Final = answers
        self._given: Final[dict[str, dict[str, int]]] = {}
        super().__init__(tool.function, tool.options)

    @cached_property
    @override
    def spec(self) -> ToolSpec:
        return self._mocked.spec

    @cached_property
    @override
    def parameters(self) -> Parameters:
        return self._mocked.parameters

    @cached_property
    @override
    def takes_context(self) -> bool:
        return True  # the key in it tells the runs apart

    @cached_property
    @override
    def is_async(self) -> bool:
        return True  # it need not run in a thread

    @override
    def invoke(self, args: Sequence[object], keywords: Mapping[str, object]) -> object:
        context = cast("ToolContext[object]", args[0])
        answer = self._answer(context.idempotency_key, _named(self._mocked, args[1:], keywords))
        if answer.error is None:
            return answer.value
        if answer.value is None:
            raise ToolFault(answer.error)
        return Failure(answer.value)

    def _answer(self, key: str, arguments: str) -> _Answered:
        run, *at = key.rsplit("/", 2)
        place = "/".join(at)
        given = self._given.setdefault(run, {})
        if place not in given:
            fitting = [
                number
                for number, answer in enumerate(self._answers)
                if answer.arguments == arguments
            ]
            if not fitting:
                raise self._never_recorded(arguments)
            left = [number for number in fitting if number not in given.values()]
            own = [number for number in left if self._answers[number].place == place]
            given[place] = (own or left or fitting[-1:])[0]
        return self._answers[given[place]]

    def _never_recorded(self, arguments: str) -> NeverRecorded:
        closest = closest_of([answer.arguments for answer in self._answers], arguments)
        said = "no call of it was" if closest is None else f"the closest one differs at {closest}"
        message = (
            f"{self.name}: expected a call that was recorded, got {arguments[:200]}; {said}. "
            "Record a run that makes this call, or change the script"
        )
        return NeverRecorded(message, self.name, closest)


# --- what was recorded ------------------------------------------------------------------------


def _answers_of(
    tool: AnyTool[Never, object], recorded: Iterable[StepResult | Exchange]
) -> Sequence[_Answered]:
    answers: list[_Answered] = []
    for place, call, answer in _calls_in(recorded):
        if call.tool_name != tool.name or call.provider_executed:
            continue
        document = parse_json(call.input if call.input.strip() else "{}")
        if isinstance(document, Failure):
            continue  # what is no JSON is refused again
        bound = tool.parameters.bind(document.unwrap())
        if isinstance(bound, Failure):
            continue  # so is what the schema or validators refused
        arguments = _named(tool, *bound.unwrap())
        if isinstance(answer, ToolResult):
            answers.append(_Answered(place, arguments, _read(tool, answer.json)))
        elif answer.kind in _RAN:
            answers.append(_Answered(place, arguments, _failure_of(answer), answer.error))
    return answers


def _read(tool: AnyTool[Never, object], document: JsonText) -> object:
    match decoded_result(tool, document):
        case Success(value):
            return value
        case Failure(message):
            raise UsageError(f"mock_tool: {message}; record the run anew")


def _failure_of(error: ToolError) -> object:
    """What a tool returned as a failure: its words, or an object that is encoded as it was."""
    if error.value is None:
        return None
    value: object = json.loads(error.value.text)
    if value == error.error:
        return value
    name, separator, told = error.error.partition(": ")
    if isinstance(value, dict) and separator and told == error.value.text:
        return type(name, (dict,), {})(cast("dict[str, object]", value))  # the name is told as well
    return None


def _named(
    tool: AnyTool[Never, object], args: Sequence[object], keywords: Mapping[str, object]
) -> str:
    """Arguments as JSON with sorted keys, those among them that were left to their defaults."""
    if tool.options.input_schema is not None:
        return _json_of(args[0])
    names = [name for name, _ in tool.parameters.positional]
    named = {**dict(zip(names, args, strict=False)), **keywords}
    return _json_of({**_defaults_of(tool.function), **named})


def _defaults_of(function: object) -> dict[str, object]:
    """The defaults of a function that have a JSON form."""
    if not callable(function):
        return {}
    given: dict[str, object] = {
        name: one.default for name, one in inspect.signature(function).parameters.items()
    }
    return {
        name: default
        for name, default in given.items()
        if default is not inspect.Parameter.empty and isinstance(encode_result(default), Success)
    }


def _json_of(given: object) -> str:
    match encode_result(given):
        case Success(text):
            return canonical_text(text.text)
        case Failure(_):
            return repr(given)  # what has no JSON form is told as Python would


_Placed: TypeAlias = dict[str, tuple[str, ToolCall]]
_Calls: TypeAlias = Iterator[tuple[str, ToolCall, ToolResult | ToolError]]


def _calls_in(recorded: Iterable[StepResult | Exchange]) -> _Calls:
    open_calls: _Placed = {}
    told: list[tuple[Message, ...]] = []
    for item in recorded:
        match item:
            case StepResult():
                calls = [call for call in item.tool_calls if not call.provider_executed]
                for index, call in enumerate(calls):
                    open_calls[call.tool_call_id] = (f"{item.step}/{index}", call)
                late = _results_in(item.late)
                yield from _paired(open_calls, [*late, *item.tool_results, *item.tool_errors])
            case Exchange(request):
                # A conversation that goes on tells again what was told before.
                known = [len(it) for it in told if request.messages[: len(it)] == it]
                told.append(request.messages)
                new = request.messages[max(known, default=0) :]
                yield from _paired(_calls_told(request.messages), _results_in(new))


def _calls_told(messages: Iterable[Message]) -> _Placed:
    return {
        part.tool_call_id: ("", part)
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolCall)
    }


def _results_in(messages: Iterable[Message]) -> Sequence[ToolResult | ToolError]:
    return [
        _as_error(part)
        for message in messages
        if isinstance(message, ToolMessage)
        for part in message.content
        if isinstance(part, ToolResult)
    ]


def _as_error(result: ToolResult) -> ToolResult | ToolError:
    """What a model was told of a call, as a step holds it."""
    match result.output:
        case ErrorTextOutput(text):
            return ToolError(result.tool_call_id, result.tool_name, text, value=result.value)
        case ErrorJsonOutput(value):
            return ToolError(result.tool_call_id, result.tool_name, value.text, value=value)
        case DeniedOutput():
            return ToolError(result.tool_call_id, result.tool_name, "denied", kind="not-run")
        case _:
            return result


def _paired(calls: _Placed, answers: Iterable[ToolResult | ToolError]) -> _Calls:
    """Each call with its answer, in the order of the answers: that of the calls in each step."""
    for answer in answers:
        if answer.tool_call_id in calls:
            place, call = calls.pop(answer.tool_call_id)
            yield place, call, answer
