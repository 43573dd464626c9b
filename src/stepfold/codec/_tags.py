"""The names of classes in stored data. They never change: a class may be renamed, a tag not.

A tag is unique within each union that its class belongs to. Parts, outputs, file data and
stream parts are named as in the AI SDK.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Blocked,
    CallSettings,
    Cancelled,
    ChunkGaps,
    Completed,
    ContentOutput,
    Custom,
    DeniedOutput,
    DocumentSource,
    ErrorJsonOutput,
    ErrorTextOutput,
    Failed,
    File,
    FileBytes,
    FileReference,
    FileText,
    FileUrl,
    Finish,
    FinishReason,
    HookFailed,
    InputTokenDetails,
    JsonFormat,
    JsonOutput,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    ModelWarning,
    NamedTool,
    NoOutput,
    OpenApproval,
    OpenCall,
    OutputTokenDetails,
    Performance,
    Ping,
    Price,
    ProviderTool,
    Raw,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFile,
    ReasoningStart,
    ResponseInfo,
    ResponseMetadata,
    StepResult,
    Stop,
    Stopped,
    StreamError,
    StreamStart,
    SystemMessage,
    Text,
    TextDelta,
    TextEnd,
    TextOutput,
    TextStart,
    ToolCall,
    ToolChoiceViolated,
    ToolDefinition,
    ToolError,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolMessage,
    ToolResult,
    UnpairedPrompt,
    UrlSource,
    Usage,
    UserMessage,
)

_FILE_DATA: Final[dict[type, str]] = {
    FileBytes: "data",
    FileUrl: "url",
    FileReference: "reference",
    FileText: "text",
}
_PARTS: Final[dict[type, str]] = {
    Text: "text",
    File: "file",
    Reasoning: "reasoning",
    ReasoningFile: "reasoning-file",
    UrlSource: "source-url",
    DocumentSource: "source-document",
    Custom: "custom",
    ToolCall: "tool-call",
    ToolResult: "tool-result",
    ToolError: "tool-error",
    ApprovalRequest: "tool-approval-request",
    ApprovalResponse: "tool-approval-response",
}
_OUTPUTS: Final[dict[type, str]] = {
    TextOutput: "text",
    JsonOutput: "json",
    ErrorTextOutput: "error-text",
    ErrorJsonOutput: "error-json",
    DeniedOutput: "execution-denied",
    ContentOutput: "content",
}
_MESSAGES: Final[dict[type, str]] = {
    SystemMessage: "system-message",
    UserMessage: "user-message",
    AssistantMessage: "assistant-message",
    ToolMessage: "tool-message",
}
_STREAM_PARTS: Final[dict[type, str]] = {
    StreamStart: "stream-start",
    ResponseMetadata: "response-metadata",
    TextStart: "text-start",
    TextDelta: "text-delta",
    TextEnd: "text-end",
    ReasoningStart: "reasoning-start",
    ReasoningDelta: "reasoning-delta",
    ReasoningEnd: "reasoning-end",
    ToolInputStart: "tool-input-start",
    ToolInputDelta: "tool-input-delta",
    ToolInputEnd: "tool-input-end",
    Finish: "finish",
    StreamError: "error",
    Ping: "ping",
    Raw: "raw",
}
_ENDS: Final[dict[type, str]] = {
    Completed: "completed",
    Stopped: "stopped",
    Blocked: "blocked",
    Failed: "failed",
    Cancelled: "cancelled",
}
_ERRORS: Final[dict[type, str]] = {
    ModelErrorReason: "model-error",
    ToolChoiceViolated: "tool-choice-violated",
    NoOutput: "no-output",
    HookFailed: "hook-failed",
    UnpairedPrompt: "unpaired-prompt",
}
_OPEN_REQUESTS: Final[dict[type, str]] = {
    OpenApproval: "open-approval",
    OpenCall: "open-call",
}
_STOPS: Final[dict[type, str]] = {
    Stop: "stop",
}
_TOOL_CHOICES: Final[dict[type, str]] = {
    NamedTool: "tool",
}

VALUE_TAGGED: Final[Mapping[type, str]] = MappingProxyType(
    _FILE_DATA
    | _PARTS
    | _OUTPUTS
    | _MESSAGES
    | _STREAM_PARTS
    | _ENDS
    | _ERRORS
    | _OPEN_REQUESTS
    | _STOPS
    | _TOOL_CHOICES
)

VALUE_RECORDS: Final[Mapping[type, str]] = MappingProxyType(
    {
        CallSettings: "call-settings",
        ChunkGaps: "chunk-gaps",
        FinishReason: "finish-reason",
        InputTokenDetails: "input-token-details",
        JsonFormat: "json-format",
        ModelReply: "reply",
        ModelRequest: "request",
        ModelWarning: "warning",
        OutputTokenDetails: "output-token-details",
        Performance: "performance",
        Price: "price",
        ProviderTool: "provider-tool",
        ResponseInfo: "response-info",
        StepResult: "step-result",
        ToolDefinition: "tool-definition",
        Usage: "usage",
    }
)
