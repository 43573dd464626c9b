from typing import Final, final
from attrs import field, frozen

@final
@frozen(order=False, kw_only=True)
class EngineOptions:
    heartbeat_seconds: float = field(default=30.0)
    longest_seconds: float = field(default=86400.0)
    attempts: int = field(default=10)
    history_events: int = field(default=4000)
    piece_bytes: int = field(default=16384)
    allow_other_program: bool = False

DEFAULT_OPTIONS: Final = EngineOptions()
