import re
from collections.abc import Callable
from typing import Literal, TypeAlias
from stepfold.agent._transforms import StreamTransform

Chunking: TypeAlias = Literal["word", "line"] | re.Pattern[str] | Callable[[str], str | None]

def smooth_stream(
    *, delay: float | None = 0.01, chunking: Chunking = "word"
) -> StreamTransform: ...
