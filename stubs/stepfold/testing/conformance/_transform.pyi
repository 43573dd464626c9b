from collections.abc import Sequence
from typing import Final
from stepfold.agent import StreamTransform
from stepfold.testing.conformance._findings import StatedLaw

_RAISES: Final = StatedLaw("a transform raises nothing", "`part.delta.split()[0]`")
_PARTS: Final = StatedLaw("a transform gives parts of a stream, and pauses", "a text alone")
_ALIKE: Final = StatedLaw(
    "a transform shows a text alike wherever it was cut", "looking at one delta at a time"
)
_LAST: Final = StatedLaw(
    "the last part that is shown is that of the run", "holding back what comes at the end"
)
_BLOCKS: Final = StatedLaw(
    "text is shown in a block that was begun and has not ended", "letting text go too late"
)
_ALONE: Final = StatedLaw(
    "what is shown of a stream depends on that stream alone", "state outside of the inner function"
)
_LOSSLESS: Final = StatedLaw(
    "a lossless transform shows what came, in its order", "forgetting what is held back"
)
TRANSFORM_LAWS: Final = (_RAISES, _PARTS, _ALIKE, _LAST, _BLOCKS, _ALONE, _LOSSLESS)

def check_transform(
    transform: StreamTransform,
    *,
    texts: Sequence[str] = (),
    is_lossless: bool = False,
    examples: int = 100,
) -> None: ...
