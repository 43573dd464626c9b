from collections.abc import Sequence
from stepfold.agent import StreamTransform

def check_transform(
    transform: StreamTransform,
    *,
    texts: Sequence[str] = (),
    is_lossless: bool = False,
    examples: int = 100,
) -> None: ...
