"""What can be wrong or odd in a history, as values."""

from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.values import Message

FindingKind: TypeAlias = Literal[
    "open-call",  # a client call without a result
    "overtaken-approval",  # a call that still waited for an approval when somebody spoke
    "duplicate-call",  # a second call of one id in a message
    "orphan-result",  # a result of no call before it
    "duplicate-result",  # a second result of a call
    "misplaced-result",  # a result that does not stand right after its call
    "duplicate-approval",  # a second request for one call, or of one id
    "misplaced-part",  # a part that such a message cannot hold
    "system-message",  # instructions in a history, or after its start
    "orphan-approval",  # a request for no call of its message
    "orphan-response",  # a response to no request before it
    "duplicate-response",  # a second response to a request
    "misaddressed-response",  # a response that says wrongly who executes the call
    "reused-id",  # a call under the id of a call in an earlier message
    "empty-message",  # a message without content
    "empty-text",  # a text without a character
    "lone-surrogate",  # a text that has no UTF-8 form
]
"""What can be found in a history."""

FindingSeverity: TypeAlias = Literal["error", "warning"]
"""Whether a history cannot be sent as it is, or is merely odd."""


@final
@frozen(order=False)
class Finding:
    """Something in a history that is wrong or odd.

    `message` is the index of the message, `part` that of the part in its content, or `None` for
    the message as a whole. `problem` says what is wrong. `mend` says what `repair_history`, and so
    `begin`, does about it; it is empty where nothing is done: for a warning, and for an error that
    `begin` refuses.
    """

    kind: FindingKind
    severity: FindingSeverity
    message: int
    part: int | None
    problem: str
    mend: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether this is an error that nobody but the history's author can mend."""
        return self.severity == "error" and not self.mend


@final
@frozen(order=False)
class RepairedHistory:
    """A history that can be sent, and what was found in the one that was given.

    Findings are sorted by their places in the history that was given.
    """

    messages: tuple[Message, ...]
    findings: tuple[Finding, ...]

    @property
    def mended(self) -> tuple[Finding, ...]:
        """The findings about which something was done."""
        return tuple(finding for finding in self.findings if finding.mend)

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The errors about which nothing could be done: `begin` refuses such a history."""
        return tuple(finding for finding in self.findings if finding.is_refused)
