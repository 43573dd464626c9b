"""What tools gave, read back by the types that they return; and a run whose output that is."""

from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from typing import Never, overload

from typing_extensions import TypeVar

from stepfold.agent._checks import require_kind
from stepfold.agent._output import Output
from stepfold.agent._output_partial import PartialDocument
from stepfold.agent._output_wire import Wire
from stepfold.loop import OutputSpec
from stepfold.shell import AnyTool, decoded_result
from stepfold.values import Failure, JsonText, NoOutput, Outcome, Success, UsageError

S = TypeVar("S", default=Never)
X = TypeVar("X", default=Never)
T = TypeVar("T")


@overload
def result_of(tool: AnyTool[Never, AsyncIterator[T]], /, *, retries: int = 0) -> Output[T]: ...
@overload
def result_of(tool: AnyTool[Never, Iterator[T]], /, *, retries: int = 0) -> Output[T]: ...
@overload
def result_of(
    tool: AnyTool[Never, Awaitable[Outcome[S, X]]], /, *, retries: int = 0
) -> Output[S]: ...
@overload
def result_of(tool: AnyTool[Never, Awaitable[T]], /, *, retries: int = 0) -> Output[T]: ...
@overload
def result_of(tool: AnyTool[Never, Outcome[S, X]], /, *, retries: int = 0) -> Output[S]: ...
@overload
def result_of(tool: AnyTool[Never, T], /, *, retries: int = 0) -> Output[T]: ...
def result_of(tool: AnyTool[Never, object], /, *, retries: int = 0) -> Output[object]:
    """The output is what a call of this tool gives: once it has run, the run is complete.

    The tool is among the tools of the agent and runs as any other, with approvals, limits and
    time-outs. A call that is refused, denied or fails is answered, and the model goes on. The calls
    beside it are carried out; of several in one step, the first in call order that gave something
    counts. The model has to call a tool in each step. In a wrap-up no tool runs, so that has no
    output.

    Args:
        tool: The tool.
        retries: How often a model that answers in words is told to call the tool. Each is another
            step, so limits and stop conditions hold.

    Raises:
        UsageError: this is no tool, or the number of retries is none.
    """
    require_kind("result_of", tool, AnyTool)
    if type(retries) is not int or retries < 0:
        raise UsageError(f"retries: expected a whole number from 0, got {retries!r}")

    def decode(document: JsonText) -> Outcome[object, NoOutput]:
        match decoded_result(tool, document):
            case Success(value):
                return Success(value)
            case Failure(message):
                return Failure(NoOutput(message, document.text, cause="refused"))

    spec = OutputSpec(f"result_of({tool.name})", _as_given, retries=retries, result_of=tool.name)
    return Output(spec, None, decode, lambda: PartialDocument(Wire(None, None, None)), tool)


def _as_given(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText(text))


def require_result_tool(
    output: Output[object], tools: Mapping[str, AnyTool[Never, object]]
) -> None:
    """Refuse an output that is the result of a tool which the agent does not have.

    Raises:
        UsageError: it is not among these tools, or another one has its name.
    """
    wanted = output.result_of
    if wanted is None:
        return
    name = wanted.name
    there = tools.get(name)
    if there is None:
        known = ", ".join(tools) or "none"
        raise UsageError(
            f"output: expected the tool {name} among the tools ({known}), since its result is the "
            "output: add it to tools=[…]"
        )
    if there.function != wanted.function:
        raise UsageError(
            f"output: expected the tool whose result is the output among the tools, got another "
            f"one named {name}"
        )
