"""Stream parts: what a model's reply consists of while it comes, named as in the AI SDK.

Order: `StreamStart`, then blocks (start, deltas, end, by id) and whole parts in any interleaving,
`ResponseMetadata` anywhere between, and exactly one `Finish` at the end. Block ids are unique
within one reply, and within a run as its stream shows them. A `ToolCall` part carries the id of
the `ToolInput…` block before it.
"""

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
    """The reply begins."""

    warnings: tuple[ModelWarning, ...] = ()


@final
@frozen(order=False, kw_only=True)
class ResponseMetadata:
    """What is known of the response so far; a later figure replaces an earlier one."""

    id: str | None = None
    model_id: str | None = None
    timestamp: Instant | None = None
    headers: tuple[tuple[str, str], ...] = ()


@final
@frozen(order=False)
class TextStart:
    """A text block begins."""

    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class TextDelta:
    """More of a text block."""

    id: str
    delta: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class TextEnd:
    """A text block is complete."""

    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ReasoningStart:
    """A reasoning block begins."""

    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ReasoningDelta:
    """More of a reasoning block."""

    id: str
    delta: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ReasoningEnd:
    """A reasoning block is complete; a signature comes with the last part."""

    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ToolInputStart:
    """The arguments of a call begin; `id` is the id of the call."""

    id: str
    tool_name: str
    provider_executed: bool = field(default=False, kw_only=True)
    dynamic: bool = field(default=False, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ToolInputDelta:
    """More of the arguments of a call."""

    id: str
    delta: str


@final
@frozen(order=False)
class ToolInputEnd:
    """The arguments of a call are complete; the `ToolCall` follows."""

    id: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class Finish:
    """The reply is complete. Always the last part."""

    finish_reason: FinishReason
    usage: Usage = NO_USAGE
    provider_metadata: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class StreamError:
    """The provider reported an error in the middle of its reply."""

    reason: ModelErrorReason


@final
@frozen(order=False)
class Ping:
    """Nothing, said to keep a connection open."""


@final
@frozen(order=False)
class Raw:
    """A chunk as the provider sent it, if that was asked for."""

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
"""One part of a streamed reply."""
