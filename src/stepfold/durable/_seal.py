"""`Seal`: what makes the lines of a journal unreadable to whoever keeps them."""

from collections.abc import Callable
from typing import final

from attrs import frozen


@final
@frozen(order=False)
class Seal:
    """Two functions over bytes, such as `encrypt` and `decrypt` of `cryptography.fernet.Fernet`.

    `close` is given each line and each big text before it is stored, `open` what `close` gave.
    `open` raises whatever it likes for bytes that are not its own; the journal is then damaged.
    """

    close: Callable[[bytes], bytes]
    open: Callable[[bytes], bytes]
