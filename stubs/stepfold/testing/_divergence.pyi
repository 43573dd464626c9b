from typing import final
from attrs import frozen
from typing_extensions import override

@final
@frozen(order=False)
class Divergence:
    path: str
    expected: str
    got: str

    @override
    def __str__(self) -> str: ...
