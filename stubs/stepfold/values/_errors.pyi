from typing import Literal, TypeAlias, final
from attrs import field, frozen
from typing_extensions import override
from stepfold.values._finish import UnifiedFinishReason

class StepfoldError(Exception):
    __module__ = "stepfold"

class UsageError(StepfoldError, ValueError):
    __module__ = "stepfold"

@final
class IllegalEvent(UsageError):
    __module__ = "stepfold"

class ToolFault(StepfoldError):
    __module__ = "stepfold"

ModelErrorKind: TypeAlias = Literal[
    "authentication",
    "permission",
    "not-found",
    "bad-request",
    "context-length",
    "content-filter",
    "rate-limit",
    "quota",
    "overloaded",
    "server",
    "connection",
    "timeout",
    "protocol",
    "unknown",
]

@final
@frozen(order=False)
class ModelErrorReason:
    kind: ModelErrorKind
    message: str
    status: int | None = field(default=None, kw_only=True)
    retry_after: int | None = field(default=None, kw_only=True)
    request_id: str | None = field(default=None, kw_only=True)
    code: str | None = field(default=None, kw_only=True)

    @property
    def is_retryable(self) -> bool: ...
    @override
    def __str__(self) -> str: ...

@final
class ModelError(StepfoldError):
    __module__ = "stepfold"

    def __init__(self, reason: ModelErrorReason) -> None: ...
    reason: ModelErrorReason

    @override
    def __reduce__(self) -> tuple[type["ModelError"], tuple[ModelErrorReason]]: ...

@final
@frozen(order=False)
class ToolChoiceViolated:
    message: str

NoOutputCause: TypeAlias = Literal["no-answer", "invalid-json", "schema-mismatch", "refused"]

@final
@frozen(order=False)
class NoOutput:
    message: str
    text: str = ""
    cause: NoOutputCause = field(default="no-answer", kw_only=True)
    finish_reason: UnifiedFinishReason | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class HookFailed:
    hook: str
    exception: str

    @property
    def message(self) -> str: ...

@final
@frozen(order=False)
class UnpairedPrompt:
    message: str

RunError: TypeAlias = ModelErrorReason | ToolChoiceViolated | NoOutput | HookFailed | UnpairedPrompt
