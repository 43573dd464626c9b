"""Scripts as text files that people read, and review as diffs.

The format, with the values of `stepfold.codec` inside:

    {"v": 1, "type": "script", "exchanges": [{"request": …, "answer": …}, …]}

An answer is a reply, a model error, or an array of stream parts. A request whose messages begin
with all those of an earlier one, and that else equals it, names that one by its index and holds
only the messages that came since: `{"follows": 0, "messages": […]}`. So each message is told once.
"""

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Final, TypeVar, cast

from attrs import evolve
from typing_extensions import TypeIs

from stepfold.codec import (
    CURRENT_VERSION,
    DOCUMENT_BOUNDS,
    DecodeFault,
    JsonTree,
    from_json,
    migrate,
    to_json,
)
from stepfold.testing._exchange import Exchange, PlainAnswer
from stepfold.values import (
    Failure,
    Message,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Outcome,
    StreamPart,
    Success,
    parse_json,
)

T = TypeVar("T")

_NO_MESSAGES: Final[tuple[Message, ...]] = ()


def write_script(script: Sequence[Exchange], path: str | PathLike[str]) -> None:
    """Write a script into a file of readable JSON, in place of what was there.

    Equal scripts are equal files, to the byte.

    Raises:
        OSError: the file cannot be written.
        UsageError: something in the script is of a wrong type.
    """
    tree: JsonTree = {
        "v": CURRENT_VERSION,
        "type": "script",
        "exchanges": [
            {"request": _request_tree(script, place), "answer": _answer_tree(exchange.answer)}
            for place, exchange in enumerate(script)
        ],
    }
    text = json.dumps(tree, ensure_ascii=False, indent=2)
    Path(path).write_text(f"{text}\n", encoding="utf-8", newline="\n")


def read_script(path: str | PathLike[str]) -> Outcome[tuple[Exchange, ...], DecodeFault]:
    """Read the script that `write_script` wrote; give what is in it to a `ScriptedModel`.

    A fault names the place by a JSON pointer.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        return Success(_read(Path(path).read_bytes()))
    except _FaultyError as error:
        return Failure(error.fault)


def _request_tree(script: Sequence[Exchange], place: int) -> JsonTree:
    request = script[place].request
    alone = evolve(request, messages=_NO_MESSAGES)
    for earlier in reversed(range(place)):
        other = script[earlier].request
        count = len(other.messages)
        if request.messages[:count] == other.messages and alone == evolve(
            other, messages=_NO_MESSAGES
        ):
            return {
                "follows": earlier,
                "messages": [to_json(it) for it in request.messages[count:]],
            }
    return to_json(request)


def _answer_tree(answer: PlainAnswer) -> object:
    if isinstance(answer, tuple):
        return [to_json(part) for part in answer]
    return to_json(answer)


# --- reading ----------------------------------------------------------------------------------


class _FaultyError(Exception):
    """Raised to leave the reading; `fault` says where and why."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.fault: Final = DecodeFault(path, message)


def _read(data: bytes) -> tuple[Exchange, ...]:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _FaultyError("", f"expected UTF-8, got {error.reason}") from None
    found = parse_json(text, DOCUMENT_BOUNDS)
    if isinstance(found, Failure):
        raise _FaultyError("", f"expected JSON: {found.failure().message}")
    document = _members(found.unwrap(), "", {"v", "type", "exchanges"})
    version = document["v"]
    if document["type"] != "script":
        raise _FaultyError("/type", f"expected 'script', got {document['type']!r:.60}")
    if type(version) is not int:
        raise _FaultyError("/v", f"expected an integer, got {version!r:.60}")
    exchanges: list[Exchange] = []
    for place, tree in enumerate(_items(document["exchanges"], "/exchanges")):
        path = f"/exchanges/{place}"
        members = _members(tree, path, {"request", "answer"})
        request = _request(members["request"], f"{path}/request", exchanges, version)
        exchanges.append(Exchange(request, _answer(members["answer"], f"{path}/answer", version)))
    return tuple(exchanges)


def _request(tree: object, path: str, before: Sequence[Exchange], version: int) -> ModelRequest:
    if not _is_object(tree) or "follows" not in tree:
        return _value(from_json(_current(tree, path, version), ModelRequest), path)
    members = _members(tree, path, {"follows", "messages"})
    earlier = members["follows"]
    if type(earlier) is not int or not 0 <= earlier < len(before):
        message = f"expected the index of an exchange before this one, got {earlier!r:.60}"
        raise _FaultyError(f"{path}/follows", message)
    new: list[Message] = []
    for place, item in enumerate(_items(members["messages"], f"{path}/messages")):
        where = f"{path}/messages/{place}"
        new.append(_value(from_json(_current(item, where, version), Message), where))
    request = before[earlier].request
    return evolve(request, messages=(*request.messages, *new))


def _answer(tree: object, path: str, version: int) -> PlainAnswer:
    if isinstance(tree, list):
        parts: list[StreamPart] = []
        for place, item in enumerate(cast("list[object]", tree)):
            where = f"{path}/{place}"
            parts.append(_value(from_json(_current(item, where, version), StreamPart), where))
        return tuple(parts)
    current = _current(tree, path, version)
    if current.get("type") == "reply":
        return _value(from_json(current, ModelReply), path)
    return _value(from_json(current, ModelErrorReason), path)


def _current(tree: object, path: str, version: int) -> JsonTree:
    """A value as the current version writes it."""
    if not _is_object(tree):
        raise _FaultyError(path, f"expected an object, got {tree!r:.60}")
    return _value(migrate(tree, version), path)


def _value(outcome: Outcome[T, DecodeFault], path: str) -> T:
    match outcome:
        case Success(value):
            return value
        case Failure(fault):
            raise _FaultyError(f"{path}{fault.path}", fault.message)


def _is_object(tree: object) -> TypeIs[JsonTree]:
    return isinstance(tree, dict)


def _members(tree: object, path: str, names: set[str]) -> JsonTree:
    if not _is_object(tree) or set(tree) != names:
        raise _FaultyError(path, f"expected an object of {', '.join(sorted(names))}")
    return tree


def _items(tree: object, path: str) -> Sequence[object]:
    if not isinstance(tree, list):
        raise _FaultyError(path, f"expected an array, got {tree!r:.60}")
    return cast("list[object]", tree)
