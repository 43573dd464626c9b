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
    response_time: int
    step_time: int
    tool_time: tuple[tuple[str, int], ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    time_to_first_output: int | None = None
    streaming_time: int | None = None
    chunk_gaps: ChunkGaps | None = None

    @property
    def effective_output_tokens_per_second(self) -> float | None: ...
    @property
    def effective_total_tokens_per_second(self) -> float | None: ...
    @property
    def output_tokens_per_second(self) -> float | None: ...
    @property
    def input_tokens_per_second(self) -> float | None: ...

@final
@frozen(order=False)
class StepResult:
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
    def text(self) -> str: ...
    @property
    def reasoning_text(self) -> str: ...
    @property
    def tool_calls(self) -> tuple[ToolCall, ...]: ...
    @property
    def tool_results(self) -> tuple[ToolResult, ...]: ...
    @property
    def tool_errors(self) -> tuple[ToolError, ...]: ...
    @property
    def files(self) -> tuple[File, ...]: ...
    @property
    def sources(self) -> tuple[UrlSource | DocumentSource, ...]: ...

@final
@frozen(order=False)
class Stop:
    name: str
    evidence: JsonText = EMPTY_OBJECT

@final
@frozen(order=False)
class OpenApproval:
    approval_id: str
    call: ToolCall
    digest: str
    reason: str | None = None
    signature: str | None = None

@final
@frozen(order=False)
class OpenCall:
    step: int
    index: int
    attempt: int
    call: ToolCall

OpenRequest: TypeAlias = OpenApproval | OpenCall

@final
@frozen(order=False)
class Completed(Generic[Out_co]):
    output: Out_co

@final
@frozen(order=False)
class Stopped:
    stop: Stop

@final
@frozen(order=False)
class Blocked:
    open: tuple[OpenRequest, ...]

@final
@frozen(order=False)
class Failed:
    error: RunError

@final
@frozen(order=False)
class Cancelled:
    reason: str

RunEnd: TypeAlias = Completed[Out] | Stopped | Blocked | Failed | Cancelled
