"""One request and its answer, as a script holds it."""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias, final

from attrs import field, frozen

from stepfold.testing._fingerprint import fingerprint_of, standard_form
from stepfold.values import ModelErrorReason, ModelReply, ModelRequest, StreamPart, UsageError

PlainAnswer: TypeAlias = ModelReply | ModelErrorReason | tuple[StreamPart, ...]
"""An answer that is a value through and through."""


def _plain(answer: ModelReply | ModelErrorReason | Sequence[StreamPart]) -> PlainAnswer:
    if isinstance(answer, ModelReply | ModelErrorReason):
        return answer
    if _are_parts(answer):
        return tuple(answer)
    msg = (
        "Exchange: expected as answer a ModelReply (see `reply`), a ModelErrorReason or a sequence "
        f"of stream parts, got {answer!r:.200}"
    )
    raise UsageError(msg)


def _are_parts(answer: object) -> bool:
    return isinstance(answer, Sequence) and not isinstance(answer, str | bytes)


@final
@frozen(order=False)
class Exchange:
    """One request, and what was answered: an item of a script that answers this request alone.

    The request is kept in its standard form (`standard_form`), without headers and secrets. The
    answer is a reply, the reason of a failure, or exactly the parts of a stream.

    Raises:
        UsageError: the answer is none of these.
    """

    request: ModelRequest = field(converter=standard_form)
    answer: PlainAnswer = field(converter=_plain)

    @cached_property
    def fingerprint(self) -> str:
        """What the request is known by; see `fingerprint_of`."""
        return fingerprint_of(self.request)
