"""The line of JSON that a streamed part is, wherever it is kept.

{"v":1,"command":"CallModel/0/1","attempt":1,"index":0,"part":{"type":"text-start",…}}
"""

import json
from typing import Final, TypeVar, cast

from typing_extensions import TypeForm

from stepfold.codec import (
    CURRENT_VERSION,
    DecodeFault,
    JsonTree,
    StoredDataError,
    from_json,
    to_json,
)
from stepfold.durable._channel import ShownPart, StreamedPart
from stepfold.loop.commands import CallKey
from stepfold.shell import ToolProgressed
from stepfold.values import Failure, JsonText, StreamPart, ToolCall, dump_tree

T = TypeVar("T")

_PROGRESS: Final = "tool-progressed"


def encode_streamed(part: StreamedPart) -> str:
    """Write a part as one line of JSON, without its end."""
    shown = part.part
    tree: JsonTree
    if isinstance(shown, ToolProgressed):
        key, call = to_json(shown.key), to_json(shown.call)
        tree = {"type": _PROGRESS, "key": key, "value": shown.value.text, "call": call}
    else:
        tree = to_json(shown)
    return dump_tree(
        {
            "v": CURRENT_VERSION,
            "command": part.command,
            "attempt": part.attempt,
            "index": part.index,
            "part": tree,
        }
    )


def decode_streamed(line: bytes) -> StreamedPart:
    """Read a line that `encode_streamed` wrote.

    Raises:
        StoredDataError: it is none, or of another version.
    """
    try:
        tree = cast("JsonTree", json.loads(line))
        part = cast("JsonTree", tree["part"])
        version, kind = tree["v"], part["type"]
        command = str(tree["command"])
        attempt, index = cast("int", tree["attempt"]), cast("int", tree["index"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoredDataError(DecodeFault("", f"expected a streamed part: {error!r}")) from None
    if version != CURRENT_VERSION:
        told = f"expected version {CURRENT_VERSION}, got {version!r:.80}"
        raise StoredDataError(DecodeFault("/v", told))
    shown: ShownPart
    if kind == _PROGRESS:
        key, call = _read(part.get("key"), CallKey), _read(part.get("call"), ToolCall)
        shown = ToolProgressed(key, JsonText(str(part.get("value"))), call)
    else:
        shown = _read(part, StreamPart)
    return StreamedPart(command, attempt, index, shown)


def _read(tree: object, kind: TypeForm[T]) -> T:
    outcome = from_json(tree, kind)
    if isinstance(outcome, Failure):
        raise StoredDataError(outcome.failure())
    return outcome.unwrap()
