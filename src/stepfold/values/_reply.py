"""What a model is asked, and what it answers."""

from typing import Literal, TypeAlias, final

from attrs import field, frozen

from stepfold.values._finish import FinishReason
from stepfold.values._json import EMPTY_OBJECT, JsonText
from stepfold.values._messages import Message
from stepfold.values._parts import ReplyPart
from stepfold.values._usage import NO_USAGE, Usage

Instant: TypeAlias = int
"""Nanoseconds of wall-clock time since 1970-01-01 UTC."""


@final
@frozen(order=False)
class ModelWarning:
    """Something that the provider did not do as asked; `subject` is the feature or setting."""

    kind: Literal["unsupported", "compatibility", "deprecated", "other"]
    subject: str
    message: str = ""


@final
@frozen(order=False)
class ResponseInfo:
    """What the provider said about its answer. Headers are lower-case and hold no secret."""

    id: str | None = None
    model_id: str | None = None
    timestamp: Instant | None = None
    headers: tuple[tuple[str, str], ...] = ()


NO_RESPONSE = ResponseInfo()
"""Nothing is known of the response."""


@final
@frozen(order=False)
class ModelReply:
    """One whole answer of a model: content in order, and why it ended."""

    content: tuple[ReplyPart, ...]
    finish_reason: FinishReason
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)


# --- requests ---------------------------------------------------------------------------------

ReasoningEffort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model shall think before it answers."""


@final
@frozen(order=False, kw_only=True)
class CallSettings:
    """How the model shall answer. Nothing is sent for what is left `None`."""

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
"""Everything is left to the provider."""


@final
@frozen(order=False)
class ToolDefinition:
    """A tool as a model is told of it; `input_schema` is a JSON Schema (draft 2020-12)."""

    name: str
    description: str
    input_schema: JsonText
    strict: bool | None = field(default=None, kw_only=True)
    input_examples: tuple[JsonText, ...] = field(default=(), kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ProviderTool:
    """A tool that the provider has and runs itself, as a model is told of it.

    `id` is the provider and the wire's own type of the tool (`anthropic.web_search_20250305`),
    `name` what the model calls it. `args` is a JSON object: the other members of its definition,
    as the wire names them; they may hold a secret, and the `repr` does not show them. A tool that
    `supports_deferred_results` may answer a call in a later reply than the one that made it.
    """

    id: str
    name: str
    args: JsonText = field(default=EMPTY_OBJECT, repr=False)
    supports_deferred_results: bool = field(default=False, kw_only=True)

    def makes(self, call_name: str) -> bool:
        """Whether calls of this name are of this tool: `bash_code_execution` of `code_execution`.

        Some tools have several kinds of calls, whose names end with that of the tool.
        """
        return call_name == self.name or call_name.endswith(f"_{self.name}")


@final
@frozen(order=False)
class NamedTool:
    """A tool choice: the model has to call this one."""

    tool_name: str


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | NamedTool
"""Whether a model may, must or must not call tools, or which one it must call."""


@final
@frozen(order=False)
class JsonFormat:
    """The reply's text shall be JSON, matching the schema if there is one."""

    schema: JsonText | None = None
    name: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)


@final
@frozen(order=False, kw_only=True)
class ModelRequest:
    """What a model is asked.

    `messages` is shared with the state, never copied; before it goes on a wire, it is put in
    order by `convert_to_model_prompt`. `key` names the request within all runs, for providers
    that know idempotency keys.
    """

    messages: tuple[Message, ...]
    instructions: str = ""
    tools: tuple[ToolDefinition, ...] = ()
    provider_tools: tuple[ProviderTool, ...] = ()
    tool_choice: ToolChoice = "auto"
    response_format: JsonFormat | None = None
    settings: CallSettings = NO_SETTINGS
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    provider_options: JsonText | None = None
    key: str = ""
