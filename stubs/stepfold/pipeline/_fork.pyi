import enum
from typing import Final, final

@final
class Unchanged(enum.Enum):
    UNCHANGED = "unchanged"

UNCHANGED: Final = Unchanged.UNCHANGED
