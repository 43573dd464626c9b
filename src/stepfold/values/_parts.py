"""The content parts of messages and replies, named as in the AI SDK.

`provider_options` holds what belongs to one provider: what the user asks of it, and what it
attached to a part and wants back in the next turn (signatures, item ids). It is a JSON object of
objects, keyed by provider.
"""

import re
from typing import Final, Literal, TypeAlias, final

from attrs import field, frozen

from stepfold.values._errors import UsageError
from stepfold.values._json import NULL, JsonText, without_lone_surrogates

# --- what a file's content is -----------------------------------------------------------------


@final
@frozen(order=False)
class FileBytes:
    """A file given by its content."""

    data: bytes = field(repr=lambda data: f"<{len(data)} bytes>")


@final
@frozen(order=False)
class FileUrl:
    """A file to be fetched, by the provider or by a download."""

    url: str


@final
@frozen(order=False)
class FileReference:
    """A file that a provider already holds: a JSON object, keyed by provider."""

    reference: JsonText


@final
@frozen(order=False)
class FileText:
    """A file whose content is text."""

    text: str


FileData: TypeAlias = FileBytes | FileUrl | FileReference | FileText
"""What a file's content is."""

_address: Final = re.compile(r"https?://|data:", re.ASCII | re.IGNORECASE)


def _file_data(given: FileData | bytes | str) -> FileData:
    if isinstance(given, bytes):
        return FileBytes(given)
    if not isinstance(given, str):
        return given
    if _address.match(given):
        return FileUrl(given)
    msg = (
        f"File.data: expected bytes, or an address of http, https or data, got {given[:40]!r}: "
        "write FileText(…) for text, and FileBytes(base64.b64decode(…)) for base64"
    )
    raise UsageError(msg)


# --- parts that people and models write -------------------------------------------------------


@final
@frozen(order=False)
class Text:
    """Plain text."""

    text: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class File:
    """A file; `media_type` is an IANA type, or its first half (`image`).

    Bytes, and an address as a string, are taken for `FileBytes` and `FileUrl`.

    Raises:
        UsageError: the data is a string that is no address.
    """

    data: FileData = field(converter=_file_data)
    media_type: str
    filename: str | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class Reasoning:
    """What the model thought; its signature, if any, is in `provider_options`."""

    text: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ReasoningFile:
    """A file that is part of the model's reasoning."""

    data: FileBytes | FileUrl
    media_type: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class UrlSource:
    """A web page that the reply rests on."""

    id: str
    url: str
    title: str | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class DocumentSource:
    """A document that the reply rests on."""

    id: str
    media_type: str
    title: str
    filename: str | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class Custom:
    """Content that only one provider understands, named `provider.kind`."""

    kind: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ToolCall:
    """The model asks for a tool; `input` is its own text, which need not be JSON.

    A call that is `provider_executed` is answered by the provider; any other one is a *client
    call*, answered here. `title` and `tool_metadata` are those of the tool, for who shows the call
    to people; no model is told them. A call is `dynamic` where the tool's input is known by its
    schema alone.
    """

    tool_call_id: str
    tool_name: str
    input: str
    provider_executed: bool = field(default=False, kw_only=True)
    dynamic: bool = field(default=False, kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    tool_metadata: JsonText | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


# --- what the model is told of a call ---------------------------------------------------------


@final
@frozen(order=False)
class TextOutput:
    """The result is text."""

    value: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class JsonOutput:
    """The result is a JSON document."""

    value: JsonText
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ErrorTextOutput:
    """The call failed, told in words."""

    value: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ErrorJsonOutput:
    """The call failed, told as a JSON document."""

    value: JsonText
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class DeniedOutput:
    """A person or a policy refused the call."""

    reason: str | None = None
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ContentOutput:
    """The result is a sequence of texts, files and custom parts."""

    value: tuple[Text | File | Custom, ...]
    provider_options: JsonText | None = field(default=None, kw_only=True)


ToolOutput: TypeAlias = (
    TextOutput | JsonOutput | ErrorTextOutput | ErrorJsonOutput | DeniedOutput | ContentOutput
)
"""What the model is told of a call."""


@final
@frozen(order=False)
class ToolResult:
    """A call was answered: `output` is what the model sees.

    `value` is what the program keeps, where that differs from what the model sees. Messages
    carry every answer in this form; in the content of a step, failures are `ToolError`s. `title`
    and `tool_metadata` are those of the call.
    """

    tool_call_id: str
    tool_name: str
    output: ToolOutput
    value: JsonText | None = field(default=None, kw_only=True)
    provider_executed: bool = field(default=False, kw_only=True)
    preliminary: bool = field(default=False, kw_only=True)
    dynamic: bool = field(default=False, kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    tool_metadata: JsonText | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

    @property
    def json(self) -> JsonText:
        """What the program keeps, as JSON: `value`, else the output itself.

        Of a text, lone surrogates are replaced by U+FFFD, since they have no UTF-8 form.
        """
        if self.value is not None:
            return self.value
        match self.output:
            case JsonOutput(value) | ErrorJsonOutput(value):
                return value
            case TextOutput(text) | ErrorTextOutput(text):
                return JsonText.of(without_lone_surrogates(text))
            case DeniedOutput() | ContentOutput():
                return NULL


ToolErrorKind: TypeAlias = Literal[
    "invalid",  # the arguments were not acceptable, or no such tool exists
    "failed",  # the tool raised, or returned a failure
    "timeout",  # it did not end in time
    "interrupted",  # the run ended, was cancelled or crashed while it ran
    "limit",  # a limit of the run left no room for it
    "not-run",  # the reply did not end normally, so nothing of it was run
    "unverified",  # the history does not prove that this program asked for its approval
]
"""Why a call could not be answered."""


@final
@frozen(order=False)
class ToolError:
    """A call could not be answered; `error` is what the model is told.

    `value` is the encoded error of a tool that returned a typed failure.
    """

    tool_call_id: str
    tool_name: str
    error: str
    kind: ToolErrorKind = field(default="failed", kw_only=True)
    value: JsonText | None = field(default=None, kw_only=True)
    provider_executed: bool = field(default=False, kw_only=True)
    dynamic: bool = field(default=False, kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    tool_metadata: JsonText | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ApprovalRequest:
    """A call waits for a decision; `is_automatic` tells that a rule decided, nobody was asked.

    `digest` is that of the arguments (`JsonText.digest`): an approval is for exactly these.
    `signature` proves, where a program has a secret, that the program wrote this request.
    """

    approval_id: str
    tool_call_id: str
    digest: str | None = field(default=None, kw_only=True)
    reason: str | None = field(default=None, kw_only=True)
    is_automatic: bool = field(default=False, kw_only=True)
    signature: str | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ApprovalResponse:
    """The decision on an `ApprovalRequest`."""

    approval_id: str
    approved: bool
    reason: str | None = field(default=None, kw_only=True)
    provider_executed: bool = field(default=False, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


UserPart: TypeAlias = Text | File
"""What a user message is made of."""
AssistantPart: TypeAlias = (
    Text | Reasoning | ToolCall | ToolResult | File | ReasoningFile | Custom | ApprovalRequest
)
"""What an assistant message is made of."""
ToolPart: TypeAlias = ToolResult | ApprovalResponse
"""What a tool message is made of."""
ReplyPart: TypeAlias = (
    Text
    | Reasoning
    | ToolCall
    | ToolResult
    | ToolError
    | File
    | ReasoningFile
    | UrlSource
    | DocumentSource
    | Custom
    | ApprovalRequest
)
"""What a model's reply is made of."""
ContentPart: TypeAlias = ReplyPart | ApprovalResponse
"""What the content of a step is made of: a reply, and what came of its calls."""
