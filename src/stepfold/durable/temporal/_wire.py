"""What goes through the engine, as JSON that can be read in its web page.

A value is a document of the codec. A state is sent in pieces: each piece is an increment, and all
but the last are the same whenever they are sent, so that a storage keeps each once, and an
activity's input costs little more than what happened since the last piece was closed.
"""

from collections.abc import Sequence
from typing import Final, TypeVar, cast, final

from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from typing_extensions import TypeForm

from stepfold.codec import (
    CURRENT_VERSION,
    DecodeFault,
    JsonTree,
    StoredDataError,
    from_json,
    migrate,
    to_json,
)
from stepfold.durable._records import BaseRecord, decode_record, encode_record
from stepfold.loop import Increment, LoopState, increment_of, restored
from stepfold.values import Failure, Success, UsageError, dump_tree

T = TypeVar("T")

_NEVER_CUT: Final = 2**62


def sent(value: object) -> JsonTree:
    """A value as a document.

    Raises:
        UsageError: it has no JSON form.
    """
    return {"v": CURRENT_VERSION, **to_json(value)}


def received(given: object, kind: TypeForm[T]) -> T:
    """The value of a document.

    Raises:
        StoredDataError: it is none of this kind, or of a newer version.
    """
    # The engine has read the JSON: to write and read it once more takes longer than it allows.
    if not isinstance(given, dict):
        raise StoredDataError(DecodeFault("", f"expected an object, got {type(given).__name__}"))
    tree = dict(cast("JsonTree", given))
    version = tree.pop("v", None)
    if type(version) is not int:
        raise StoredDataError(DecodeFault("/v", f"expected a version, got {version!r:.80}"))
    current = Success(tree) if version == CURRENT_VERSION else migrate(tree, version)
    outcome = current if isinstance(current, Failure) else from_json(current.unwrap(), kind)
    if isinstance(outcome, Failure):
        raise StoredDataError(outcome.failure())
    return outcome.unwrap()


def _text(given: object) -> str:
    try:
        return dump_tree(given)
    except (TypeError, ValueError) as error:
        raise UsageError(f"expected JSON, got {type(given).__name__}: {error}") from None


@final
class Pieces:
    """A state that is sent again and again, in pieces."""

    def __init__(self, size: int, given: Sequence[object] = ()) -> None:
        self._size: Final = size
        self._closed: Final[list[RawValue]] = [_raw(_text(piece).encode()) for piece in given]
        self._kept: LoopState | None = restored_state(given) if given else None
        self._last: tuple[LoopState, list[RawValue]] | None = None

    def of(self, state: LoopState) -> list[RawValue]:
        """A later state of the run, in pieces; a piece that has grown enough is closed."""
        if self._last is None or self._last[0] is not state:
            self._last = state, self._made(state)
        return self._last[1]

    def _made(self, state: LoopState) -> list[RawValue]:
        increment = increment_of(self._kept, state)
        line, _ = encode_record(BaseRecord(increment), big=_NEVER_CUT)
        if len(line) < self._size or not increment.state.messages:
            return [*self._closed, _raw(line)]
        self._closed.append(_raw(line))
        self._kept = state
        last, _ = encode_record(BaseRecord(increment_of(state, state)), big=_NEVER_CUT)
        return [*self._closed, _raw(last)]


def _raw(line: bytes) -> RawValue:
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=line))


def restored_state(given: Sequence[object]) -> LoopState:
    """The state that pieces were made of.

    Raises:
        StoredDataError: they are no pieces of a state.
        UsageError: the first is missing.
    """
    increments: list[Increment] = []
    for piece in given:
        outcome = decode_record(_text(piece).encode(), {})
        if isinstance(outcome, Failure):
            raise StoredDataError(outcome.failure())
        record = outcome.unwrap()
        if not isinstance(record, BaseRecord):
            raise UsageError(f"expected a piece of a state, got {type(record).__name__}")
        increments.append(record.increment)
    return restored(increments)
