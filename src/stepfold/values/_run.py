"""What a run leaves behind: its steps, and how it ended."""

from typing import Generic, TypeAlias, final

from attrs import field, frozen
from typing_extensions import TypeVar

from stepfold.values._errors import RunError
from stepfold.values._finish import FinishReason
from stepfold.values._json import EMPTY_OBJECT, JsonText
from stepfold.values._messages import Message
from stepfold.values._parts import (
    ContentPart,
    DocumentSource,
    File,
    Reasoning,
    Text,
    ToolCall,
    ToolError,
    ToolResult,
    UrlSource,
)
from stepfold.values._reply import NO_RESPONSE, ModelWarning, ResponseInfo
from stepfold.values._usage import Usage

Out_co = TypeVar("Out_co", covariant=True)
Out = TypeVar("Out")


@final
@frozen(order=False)
class ChunkGaps:
    """The pauses between chunks of output, in nanoseconds; percentiles by nearest rank."""

    count: int
    min: int
    p10: int
    median: int
    average: int
    p90: int
    max: int


@final
@frozen(order=False, kw_only=True)
class Performance:
    """How long a step took, in nanoseconds, and what that means in tokens a second.

    `response_time` runs from the first attempt to the reply, failed attempts and pauses
    included; `step_time` goes on until the step came to rest. `tool_time` pairs call ids with
    the time that each took. The last three figures exist only for a streamed reply.

    A rate is a finite number, or `None` where its tokens are unknown or its time is nothing: 0
    means that no tokens came.
    """

    response_time: int
    step_time: int
    tool_time: tuple[tuple[str, int], ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    time_to_first_output: int | None = None
    streaming_time: int | None = None
    chunk_gaps: ChunkGaps | None = None

    @property
    def effective_output_tokens_per_second(self) -> float | None:
        """Output tokens over the whole response time."""
        return _rate(self.output_tokens, self.response_time)

    @property
    def effective_total_tokens_per_second(self) -> float | None:
        """Input and output tokens over the whole response time."""
        if self.input_tokens is None or self.output_tokens is None:
            return None
        return _rate(self.input_tokens + self.output_tokens, self.response_time)

    @property
    def output_tokens_per_second(self) -> float | None:
        """Output tokens over the time after the first output; `None` if not streamed."""
        return _rate(self.output_tokens, self.streaming_time)

    @property
    def input_tokens_per_second(self) -> float | None:
        """Input tokens over the time to the first output; `None` if not streamed."""
        return _rate(self.input_tokens, self.time_to_first_output)


def _rate(tokens: int | None, nanoseconds: int | None) -> float | None:
    if tokens is None or nanoseconds is None or nanoseconds <= 0:
        return None
    return tokens * 1_000_000_000 / nanoseconds


@final
@frozen(order=False)
class StepResult:
    """One model call and the tool calls it led to, written once, when it came to rest.

    `content` is the model's content in order, then approvals and what came of the client calls,
    in call order. `late` are messages that came in after the step before this one: steering,
    feedback, results that took longer than their own step. `cost` is what the reply cost, in
    micro-units; `None` is unknown.
    """

    step: int
    model: str
    content: tuple[ContentPart, ...]
    finish_reason: FinishReason
    usage: Usage
    performance: Performance
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)
    late: tuple[Message, ...] = field(default=(), kw_only=True)
    cost: int | None = field(default=None, kw_only=True)

    @property
    def text(self) -> str:
        """All text of the step, joined."""
        return "".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def reasoning_text(self) -> str:
        """All reasoning of the step, joined."""
        return "".join(part.text for part in self.content if isinstance(part, Reasoning))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """What the model asked for, in its order, invalid calls included."""
        return tuple(part for part in self.content if isinstance(part, ToolCall))

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The calls that were answered, in call order."""
        return tuple(part for part in self.content if isinstance(part, ToolResult))

    @property
    def tool_errors(self) -> tuple[ToolError, ...]:
        """The calls that failed or were never run, in call order."""
        return tuple(part for part in self.content if isinstance(part, ToolError))

    @property
    def files(self) -> tuple[File, ...]:
        """Files that the model made."""
        return tuple(part for part in self.content if isinstance(part, File))

    @property
    def sources(self) -> tuple[UrlSource | DocumentSource, ...]:
        """What the reply rests on."""
        return tuple(p for p in self.content if isinstance(p, UrlSource | DocumentSource))


@final
@frozen(order=False)
class Stop:
    """Why a run was stopped: the name of a condition or a limit, and what it saw."""

    name: str
    evidence: JsonText = EMPTY_OBJECT


@final
@frozen(order=False)
class OpenApproval:
    """A call that waits for a person; answer with its `approval_id` and `digest`.

    `signature` is there if the program signs its requests; it goes back with the history.
    """

    approval_id: str
    call: ToolCall
    digest: str
    reason: str | None = None
    signature: str | None = None


@final
@frozen(order=False)
class OpenCall:
    """A call of a tool that has no code here: a client has to send its result."""

    step: int
    index: int
    attempt: int
    call: ToolCall


OpenRequest: TypeAlias = OpenApproval | OpenCall
"""What somebody outside owes a run."""


@final
@frozen(order=False)
class Completed(Generic[Out_co]):
    """The model gave its final answer, and it is what was promised."""

    output: Out_co


@final
@frozen(order=False)
class Stopped:
    """A condition, a limit or a cut reply ended the run."""

    stop: Stop


@final
@frozen(order=False)
class Blocked:
    """The run rests: people or clients owe it answers."""

    open: tuple[OpenRequest, ...]


@final
@frozen(order=False)
class Failed:
    """The run could not go on."""

    error: RunError


@final
@frozen(order=False)
class Cancelled:
    """Somebody asked the run to end; all that was finished is kept."""

    reason: str


RunEnd: TypeAlias = Completed[Out] | Stopped | Blocked | Failed | Cancelled
"""How a run ended, or that it rests."""
