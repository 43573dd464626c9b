"""What the user's own validators say of arguments, and of the output of a run."""

from collections.abc import Mapping
from typing import Final, TypeVar, final

from stepfold.loop import OutputSpec
from stepfold.shell._execute import binding_error
from stepfold.shell._runtime import BindOutput
from stepfold.shell._tool import AnyTool
from stepfold.values import Failure, JsonText, Success, ToolCall, UsageError

D = TypeVar("D")


@final
class OutputBinding:
    """Asks the validators of one run's output, and keeps what they made: they are asked once."""

    def __init__(self, output: OutputSpec, bind: BindOutput | None) -> None:
        self._output: Final = output
        self._bind: Final = bind
        self.made: Final[dict[JsonText, object]] = {}

    def error_of(self, document: JsonText) -> str | None:
        """Say why the validators refuse an output, in words for the model."""
        if self._bind is None:  # refused before the run began
            raise UsageError("drive: expected bind_output in the runtime, got none")
        match self._bind(document):
            case Success(value):
                self.made[document] = value
                return None
            case Failure(fault):
                return fault.message

    def error_of_call(self, call: ToolCall, tools: Mapping[str, AnyTool[D, object]]) -> str | None:
        """Say why the validators refuse the arguments of a call: of a tool, or of the output's."""
        if call.tool_name != self._output.tool:
            tool = tools.get(call.tool_name)  # none for what a client runs
            return None if tool is None else binding_error(tool, call)
        match self._output.check(call.input.strip() or "{}"):
            case Success(document):
                return self.error_of(document)
            case Failure(fault):  # the program has another output than when the call was made
                return fault.message
