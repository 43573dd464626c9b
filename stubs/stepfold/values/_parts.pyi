from typing import Literal, TypeAlias, final
from attrs import field, frozen
from stepfold.values._json import JsonText

@final
@frozen(order=False)
class FileBytes:
    data: bytes = field()

@final
@frozen(order=False)
class FileUrl:
    url: str

@final
@frozen(order=False)
class FileReference:
    reference: JsonText

@final
@frozen(order=False)
class FileText:
    text: str

FileData: TypeAlias = FileBytes | FileUrl | FileReference | FileText

def _file_data(given: FileData | bytes | str) -> FileData: ...

@final
@frozen(order=False)
class Text:
    text: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class File:
    data: FileData = field(converter=_file_data)
    media_type: str
    filename: str | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class Reasoning:
    text: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ReasoningFile:
    data: FileBytes | FileUrl
    media_type: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class UrlSource:
    id: str
    url: str
    title: str | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class DocumentSource:
    id: str
    media_type: str
    title: str
    filename: str | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class Custom:
    kind: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ToolCall:
    tool_call_id: str
    tool_name: str
    input: str
    provider_executed: bool = field(default=False, kw_only=True)
    dynamic: bool = field(default=False, kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    tool_metadata: JsonText | None = field(default=None, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class TextOutput:
    value: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class JsonOutput:
    value: JsonText
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ErrorTextOutput:
    value: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ErrorJsonOutput:
    value: JsonText
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class DeniedOutput:
    reason: str | None = None
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ContentOutput:
    value: tuple[Text | File | Custom, ...]
    provider_options: JsonText | None = field(default=None, kw_only=True)

ToolOutput: TypeAlias = (
    TextOutput | JsonOutput | ErrorTextOutput | ErrorJsonOutput | DeniedOutput | ContentOutput
)

@final
@frozen(order=False)
class ToolResult:
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
    def json(self) -> JsonText: ...

ToolErrorKind: TypeAlias = Literal[
    "invalid", "failed", "timeout", "interrupted", "limit", "not-run", "unverified"
]

@final
@frozen(order=False)
class ToolError:
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
    approval_id: str
    approved: bool
    reason: str | None = field(default=None, kw_only=True)
    provider_executed: bool = field(default=False, kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

UserPart: TypeAlias = Text | File
AssistantPart: TypeAlias = (
    Text | Reasoning | ToolCall | ToolResult | File | ReasoningFile | Custom | ApprovalRequest
)
ToolPart: TypeAlias = ToolResult | ApprovalResponse
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
ContentPart: TypeAlias = ReplyPart | ApprovalResponse
