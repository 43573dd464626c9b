from typing import TypeAlias, final
from attrs import frozen

@final
@frozen(order=False)
class Single:
    kind: type[object]
    value: object

Kind: TypeAlias = type[object] | Single
