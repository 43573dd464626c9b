from datetime import date, time
from typing import Literal, TypeAlias

GrammarName: TypeAlias = Literal[
    "date", "date-time", "time", "duration", "decimal", "uuid", "bytes"
]
