from typing import Literal, TypeAlias

Sampling: TypeAlias = Literal["free", "fixed", "fixed-when-reasoning"]
