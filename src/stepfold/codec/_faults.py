"""What is wrong with stored data, and where."""

from typing import final

from attrs import frozen
from typing_extensions import override

from stepfold.values import StepfoldError


@final
@frozen(order=False)
class DecodeFault:
    """Why data is not what was asked for.

    `path` is a JSON pointer (RFC 6901) to the place, `""` being the whole document; that of a
    missing key is where the key should be.
    """

    path: str
    message: str

    @override
    def __str__(self) -> str:
        return f"{self.path or 'the document'}: {self.message}"


@final
class StoredDataError(StepfoldError):
    """Stored bytes are not what was written; `fault` says what is wrong with them, and where.

    Decoding never raises it: it is for stores and journals whose data cannot be read back.
    """

    __module__ = "stepfold.codec"  # as all exceptions: see `stepfold.values`

    def __init__(self, fault: DecodeFault) -> None:
        super().__init__(str(fault))
        self.fault: DecodeFault = fault

    @override
    def __reduce__(self) -> tuple[type["StoredDataError"], tuple[DecodeFault]]:
        return (StoredDataError, (self.fault,))


class RefusedError(Exception):
    """Leaves the coders below the façade; the path grows while it passes through them."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.fault = DecodeFault(path, message)

    def at(self, token: str | int) -> None:
        """Say one step more of where it happened, from the inside to the outside."""
        step = str(token).replace("~", "~0").replace("/", "~1")
        self.fault = DecodeFault(f"/{step}{self.fault.path}", self.fault.message)


_NAMES: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    int: "an integer",
    float: "a number with a fraction",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def named(tree: object) -> str:
    """Name the kind of a JSON value, or the type of what is none."""
    return _NAMES.get(type(tree)) or type(tree).__name__


def shown(text: str) -> str:
    """Quote a text for a message, cut to what a reader needs."""
    return repr(text if len(text) <= 40 else text[:39] + "…")
