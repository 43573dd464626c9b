"""Everything that stepfold raises, and the sealed reasons behind a model's failure.

    StepfoldError
    ├── UsageError           the caller's mistake: a wrong argument, a wrong order of calls
    │   └── IllegalEvent     an event that answers something which was never issued
    ├── ModelError           the outside world: carries a `ModelErrorReason`
    ├── ToolFault            a tool cannot go on; its text is shown to the model
    ├── RunFailed            `generate` ended in `Failed`; carries the run (see `stepfold.agent`)
    ├── JournalError         a journal cannot be written or read (see `stepfold.ports`)
    └── StoredDataError      stored bytes are not what was written (see `stepfold.codec`)

Exceptions cross the outer edge only. Inside, a failure is a value: `ModelErrorReason` and the
members of `RunError` are what the state, the journal and `Failed` hold.
"""

from typing import Literal, TypeAlias, final

from attrs import field, frozen
from typing_extensions import override

from stepfold.values._finish import UnifiedFinishReason


class StepfoldError(Exception):
    """The one base of everything that stepfold raises on purpose."""

    __module__ = "stepfold"  # here and below: tracebacks show the name that users import


class UsageError(StepfoldError, ValueError):
    """The caller's mistake; the text says what was expected, what came, and what to do."""

    __module__ = "stepfold"


@final
class IllegalEvent(UsageError):
    """An event answers something that was never issued; the old state stays usable."""

    __module__ = "stepfold"


class ToolFault(StepfoldError):
    """Raise it in a tool to tell the model, in your own words, why the call cannot be done."""

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
"""What went wrong at a model, in words that all providers share."""

_RETRYABLE: frozenset[str] = frozenset(
    {"rate-limit", "overloaded", "server", "connection", "timeout", "protocol"}
)


@final
@frozen(order=False)
class ModelErrorReason:
    """Why a model gave no complete reply.

    `status` is that of HTTP where there was one; `retry_after` is what the server asked for, in
    nanoseconds; `request_id` is what the provider's support will ask for. `message` never holds
    a secret.
    """

    kind: ModelErrorKind
    message: str
    status: int | None = field(default=None, kw_only=True)
    retry_after: int | None = field(default=None, kw_only=True)
    request_id: str | None = field(default=None, kw_only=True)
    code: str | None = field(default=None, kw_only=True)

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed later; a cut or garbled reply counts as such."""
        return self.kind in _RETRYABLE

    @override
    def __str__(self) -> str:
        status = f" ({self.status})" if self.status is not None else ""
        return f"{self.kind}{status}: {self.message}"


@final
class ModelError(StepfoldError):
    """A model gave no complete reply; `reason` says why, as a value.

    This is what a `LanguageModel` raises. The loop turns it into data: a retry, or an end.
    """

    __module__ = "stepfold"

    def __init__(self, reason: ModelErrorReason) -> None:
        super().__init__(str(reason))
        self.reason: ModelErrorReason = reason

    @override
    def __reduce__(self) -> tuple[type["ModelError"], tuple[ModelErrorReason]]:
        return (ModelError, (self.reason,))


@final
@frozen(order=False)
class ToolChoiceViolated:
    """The model called a tool although none was allowed, or did not call the one it had to."""

    message: str


NoOutputCause: TypeAlias = Literal["no-answer", "invalid-json", "schema-mismatch", "refused"]
"""At what an answer failed to be an output."""


@final
@frozen(order=False)
class NoOutput:
    """The run has no output of the promised type; `text` is what the model said instead.

    `cause` tells at what the answer failed: there was none (the run ended otherwise, or an output
    tool was not called), it was no JSON, it did not fit the schema, or the type's own validators
    refused it. `finish_reason` is that of the last reply, if there was one.
    """

    message: str
    text: str = ""
    cause: NoOutputCause = field(default="no-answer", kw_only=True)
    finish_reason: UnifiedFinishReason | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class HookFailed:
    """Code of the user's (a stop condition, a prepare function) raised `exception`, a type name."""

    hook: str
    exception: str

    @property
    def message(self) -> str:
        """Which hook failed, and how."""
        return f"{self.hook} raised {self.exception}"


@final
@frozen(order=False)
class UnpairedPrompt:
    """A prompt would hold calls without results, or results without calls."""

    message: str


RunError: TypeAlias = ModelErrorReason | ToolChoiceViolated | NoOutput | HookFailed | UnpairedPrompt
"""Why a run could not go on."""
