from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.values import Message

FindingKind: TypeAlias = Literal[
    "open-call",
    "overtaken-approval",
    "duplicate-call",
    "orphan-result",
    "duplicate-result",
    "misplaced-result",
    "duplicate-approval",
    "misplaced-part",
    "system-message",
    "orphan-approval",
    "orphan-response",
    "duplicate-response",
    "misaddressed-response",
    "reused-id",
    "empty-message",
    "empty-text",
    "lone-surrogate",
]
FindingSeverity: TypeAlias = Literal["error", "warning"]

@final
@frozen(order=False)
class Finding:
    kind: FindingKind
    severity: FindingSeverity
    message: int
    part: int | None
    problem: str
    mend: str = ""

    @property
    def is_refused(self) -> bool: ...

@final
@frozen(order=False)
class RepairedHistory:
    messages: tuple[Message, ...]
    findings: tuple[Finding, ...]

    @property
    def mended(self) -> tuple[Finding, ...]: ...
    @property
    def refused(self) -> tuple[Finding, ...]: ...
