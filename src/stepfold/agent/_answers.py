"""A person's answers to what a blocked run asks."""

from typing import final

from attrs import field, frozen

from stepfold.values import OpenApproval, UsageError


@final
@frozen(order=False)
class Answer:
    """The answer to one open approval; it is for exactly the arguments of the request."""

    request: OpenApproval
    approved: bool
    reason: str | None = field(default=None, kw_only=True)


def approve(request: OpenApproval, *, reason: str | None = None) -> Answer:
    """Let the call run, with exactly these arguments, once.

    Raises:
        UsageError: this is no request for approval.
    """
    return _answered("approve", request, Answer(request, approved=True, reason=reason))


def deny(request: OpenApproval, *, reason: str | None = None) -> Answer:
    """Refuse the call; the model is told, with the reason.

    Raises:
        UsageError: this is no request for approval.
    """
    return _answered("deny", request, Answer(request, approved=False, reason=reason))


def _answered(name: str, given: object, answer: Answer) -> Answer:
    if not isinstance(given, OpenApproval):
        raise UsageError(f"{name}: expected an open approval of a blocked run, got {given!r:.200}")
    return answer
