from collections.abc import Callable
from typing import Never, TypeAlias, final
from attrs import frozen
from stepfold.providers._http_model import WireCodec

AnyCodec: TypeAlias = WireCodec[Never]

@final
@frozen(order=False)
class ProtocolEntry:
    name: str
    provider: str
    load: Callable[[], AnyCodec]

PROTOCOLS: tuple[ProtocolEntry, ...] = ...

def protocol_named(name: str) -> ProtocolEntry: ...
