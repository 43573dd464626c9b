from collections.abc import Callable
from typing import final
from attrs import frozen

@final
@frozen(order=False)
class Seal:
    close: Callable[[bytes], bytes]
    open: Callable[[bytes], bytes]
