"""Following the answer of a run through its parts: which of them are the output, as it comes."""

from collections.abc import Callable, Sequence
from typing import Final, final

from stepfold.agent._output_partial import PartialOutput
from stepfold.loop.commands import CallKey
from stepfold.loop.notes import CallRequested, ModelRetried, StepStarted, ToolFinished
from stepfold.shell import RunPart, ToolProgressed
from stepfold.values import (
    ContentOutput,
    JsonOutput,
    PartialJson,
    TextDelta,
    TextEnd,
    TextOutput,
    TextStart,
    ToolInputDelta,
    ToolInputStart,
    ToolResult,
)

GIVEN = (TextOutput, JsonOutput, ContentOutput)
"""What a result is of a call that gave something."""


@final
class AnswerReader:
    """Takes the parts of a run, in order, and reads the output of the step that they belong to.

    Each step begins anew, and so does an attempt that is made again. The output is the text of the
    step, its blocks in the order in which they began, or the arguments of the first call of the
    output tool. Where it is the result of a tool, it is what the first call of it shows meanwhile,
    and then gives.
    """

    def __init__(
        self,
        partial: Callable[[], PartialOutput],
        tool: str | None,
        result_of: str | None = None,
    ) -> None:
        self._new: Final = partial
        self._tool: Final = tool
        self._result_of: Final = result_of
        self.attempt = 0
        self._begin()

    def _begin(self) -> None:
        self.attempt += 1
        self._partial = self._new()
        self._call: str | None = None
        self._given_by: CallKey | None = None
        self._blocks: dict[str, list[str]] = {}  # what waits of each; the first one is read
        self._ended: set[str] = set()

    @property
    def version(self) -> tuple[int, int]:
        """Differs when `value` does: the attempt, and how often its output has changed."""
        return (self.attempt, self._partial.version)

    @property
    def value(self) -> PartialJson:
        """The output as far as it has come."""
        return self._partial.value

    @property
    def elements(self) -> Sequence[object]:
        """The elements that are complete and acceptable."""
        return self._partial.elements

    def take(self, part: RunPart) -> None:
        """Take the next part."""
        if self._result_of is not None:
            self._take_result(part, self._result_of)
            return
        match part:
            case TextDelta(block, delta) if self._tool is None:
                if block == next(iter(self._blocks), block):
                    self._partial.feed(delta)
                else:
                    self._blocks[block].append(delta)
            case ToolInputDelta(call_id, delta):
                if call_id == self._call:
                    self._partial.feed(delta)
            case TextStart(block):
                self._blocks[block] = []
            case TextEnd(block):
                self._ended.add(block)
                self._go_on()
            case ToolInputStart(call_id, name) if name == self._tool and self._call is None:
                self._call = call_id
            case CallRequested(_, call) if call.tool_name == self._tool and self._call is None:
                self._call = call.tool_call_id
                self._partial.feed(call.input)
            case StepStarted() | ModelRetried():
                self._begin()
            case _:
                pass

    def _take_result(self, part: RunPart, tool: str) -> None:
        given_by = self._given_by
        match part:
            case ToolProgressed(key, value, call) if call.tool_name == tool and given_by is None:
                if self._call in {None, call.tool_call_id}:
                    self._begin()
                    self._call = call.tool_call_id
                    self._partial.feed(value.text)
            case ToolFinished(key, ToolResult(_, name) as result) if name == tool:
                is_first = given_by is None or key.index < given_by.index
                if is_first and isinstance(result.output, GIVEN):
                    self._begin()
                    self._given_by = key
                    self._partial.feed(result.json.text)
            case StepStarted():
                self._begin()
            case _:
                pass

    def _go_on(self) -> None:
        """Leave the blocks that have ended, and read what has come of the next one."""
        while self._blocks and (first := next(iter(self._blocks))) in self._ended:
            del self._blocks[first]
            for delta in self._blocks.get(next(iter(self._blocks), ""), ()):
                self._partial.feed(delta)
