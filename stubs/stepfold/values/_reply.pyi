from typing import Literal, TypeAlias, final
from attrs import field, frozen
from stepfold.values._finish import FinishReason
from stepfold.values._json import EMPTY_OBJECT, JsonText
from stepfold.values._messages import Message
from stepfold.values._parts import ReplyPart
from stepfold.values._usage import NO_USAGE, Usage

Instant: TypeAlias = int

@final
@frozen(order=False)
class ModelWarning:
    kind: Literal["unsupported", "compatibility", "deprecated", "other"]
    subject: str
    message: str = ""

@final
@frozen(order=False)
class ResponseInfo:
    id: str | None = None
    model_id: str | None = None
    timestamp: Instant | None = None
    headers: tuple[tuple[str, str], ...] = ()

NO_RESPONSE = ResponseInfo()

@final
@frozen(order=False)
class ModelReply:
    content: tuple[ReplyPart, ...]
    finish_reason: FinishReason
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)

ReasoningEffort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

@final
@frozen(order=False, kw_only=True)
class CallSettings:
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    stop_sequences: tuple[str, ...] = ()
    seed: int | None = None
    reasoning: ReasoningEffort | None = None

NO_SETTINGS = CallSettings()

@final
@frozen(order=False)
class ToolDefinition:
    name: str
    description: str
    input_schema: JsonText
    strict: bool | None = field(default=None, kw_only=True)
    input_examples: tuple[JsonText, ...] = field(default=(), kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ProviderTool:
    id: str
    name: str
    args: JsonText = field(default=EMPTY_OBJECT)
    supports_deferred_results: bool = field(default=False, kw_only=True)

    def makes(self, call_name: str) -> bool: ...

@final
@frozen(order=False)
class NamedTool:
    tool_name: str

ToolChoice: TypeAlias = Literal["auto", "none", "required"] | NamedTool

@final
@frozen(order=False)
class JsonFormat:
    schema: JsonText | None = None
    name: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)

@final
@frozen(order=False, kw_only=True)
class ModelRequest:
    messages: tuple[Message, ...]
    instructions: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    provider_tools: tuple[ProviderTool, ...] = ()
    tool_choice: ToolChoice = "auto"
    response_format: JsonFormat | None = None
    settings: CallSettings = NO_SETTINGS
    headers: tuple[tuple[str, str], ...] = field(default=())
    provider_options: JsonText | None = None
    key: str = ""
