from typing import TypeAlias, final
from attrs import field, frozen
from stepfold.values._errors import ModelErrorReason
from stepfold.values._finish import FinishReason
from stepfold.values._json import JsonText
from stepfold.values._parts import (
    ApprovalRequest,
    Custom,
    DocumentSource,
    File,
    ReasoningFile,
    ToolCall,
    ToolError,
    ToolResult,
    UrlSource,
)
from stepfold.values._reply import Instant, ModelWarning
from stepfold.values._usage import NO_USAGE, Usage

@final
@frozen(order=False)
class StreamStart:
    warnings: tuple[ModelWarning, ...] = ()

@final
@frozen(order=False, kw_only=True)
class ResponseMetadata:
    id: str | None = None
    model_id: str | None = None
    timestamp: Instant | None = None
    headers: tuple[tuple[str, str], ...] = ()

@final
@frozen(order=False)
class TextStart:
    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class TextDelta:
    id: str
    delta: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class TextEnd:
    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ReasoningStart:
    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ReasoningDelta:
    id: str
    delta: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ReasoningEnd:
    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ToolInputStart:
    id: str
    tool_name: str
    provider_executed: bool = field(default=False, kw_only=True)
    dynamic: bool = field(default=False, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ToolInputDelta:
    id: str
    delta: str

@final
@frozen(order=False)
class ToolInputEnd:
    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class Finish:
    finish_reason: FinishReason
    usage: Usage = NO_USAGE
    provider_metadata: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class StreamError:
    reason: ModelErrorReason

@final
@frozen(order=False)
class Ping: ...

@final
@frozen(order=False)
class Raw:
    value: JsonText

StreamPart: TypeAlias = (
    TextDelta
    | StreamStart
    | ResponseMetadata
    | TextStart
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolInputEnd
    | ToolCall
    | ToolResult
    | ToolError
    | ApprovalRequest
    | File
    | ReasoningFile
    | UrlSource
    | DocumentSource
    | Custom
    | Finish
    | StreamError
    | Ping
    | Raw
)
