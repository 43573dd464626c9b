"""A person's answers to what a blocked run asks."""

from typing import final

from attrs import field, frozen

from stepfold.values import OpenApproval


@final
@frozen(order=False)
class Answer:
    """The answer to one open approval; it is for exactly the arguments of the request."""

    request: OpenApproval
    approved: bool
    reason: str | None = field(default=None, kw_only=True)


def approve(request: OpenApproval, *, reason: str | None = None) -> Answer:
    """Let the call run, with exactly these arguments, once."""
    return Answer(request, approved=True, reason=reason)


def deny(request: OpenApproval, *, reason: str | None = None) -> Answer:
    """Refuse the call; the model is told, with the reason."""
    return Answer(request, approved=False, reason=reason)
