from typing import Literal, TypeAlias

Strategy: TypeAlias = Literal["auto", "native", "tool", "prompt"]
