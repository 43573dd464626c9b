from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias, final
from attrs import field, frozen
from stepfold.testing._fingerprint import standard_form
from stepfold.values import ModelErrorReason, ModelReply, ModelRequest, StreamPart

PlainAnswer: TypeAlias = ModelReply | ModelErrorReason | tuple[StreamPart, ...]

def _plain(answer: ModelReply | ModelErrorReason | Sequence[StreamPart]) -> PlainAnswer: ...

@final
@frozen(order=False)
class Exchange:
    request: ModelRequest = field(converter=standard_form)
    answer: PlainAnswer = field(converter=_plain)

    @cached_property
    def fingerprint(self) -> str: ...
