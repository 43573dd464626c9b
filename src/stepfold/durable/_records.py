"""Records: what a journal keeps for each event, as one line of JSON.

A record is a header, an entry (the event, the ids of the commands that it issued, what the loop
noted, and the increment of the state where a step came to rest), or a new base, which is where a
fork leaves the run that it was made of. Texts of `BIG` characters and more are cut out and stored
once, under their digest: a large result would otherwise be written in the event, in the history
and in the record of its step. Pure: nothing here reads or writes anything.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeVar, cast, final

from attrs import frozen
from typing_extensions import TypeForm

from stepfold.codec import CURRENT_VERSION, DecodeFault, JsonTree, from_json, migrate, to_json
from stepfold.loop import Increment, JournalEntry, JournalHeader, LoopState
from stepfold.loop.notes import Note, StepFinished, ToolFinished
from stepfold.values import Failure, Outcome, Success, dump_tree

T = TypeVar("T")

BIG: Final = 2_048
"""From how many characters on a text is stored once, under its digest."""


@final
@frozen(order=False)
class HeaderRecord:
    """How the run began. One that was exported `redacted` cannot be taken up or replayed."""

    header: JournalHeader
    redacted: bool = False


@final
@frozen(order=False)
class EntryRecord:
    """An event, and what came of it.

    `notes` are what the loop decided, but for what the event or the increment tells as well: that
    a tool or a step is finished.
    """

    entry: JournalEntry
    notes: tuple[Note, ...] = ()
    increment: Increment | None = None


@final
@frozen(order=False)
class BaseRecord:
    """The state from which a fork goes on, in place of the one that was reached."""

    increment: Increment


Record: TypeAlias = HeaderRecord | EntryRecord | BaseRecord
Payloads: TypeAlias = Mapping[str, bytes]


def kept_notes(notes: Sequence[Note]) -> tuple[Note, ...]:
    """The notes that tell something that the rest of a record does not."""
    return tuple(note for note in notes if not isinstance(note, StepFinished | ToolFinished))


# --- writing ----------------------------------------------------------------------------------


def encode_record(
    record: Record, *, salt: str = "", big: int = BIG
) -> tuple[bytes, dict[str, bytes]]:
    """Write a record as a line, and the texts in it of `big` characters and more by digest.

    A `salt` goes into the digests, so that they tell nobody which texts they stand for.

    Raises:
        UsageError: a value in it has no JSON form.
    """
    tree = _tree_of(record)
    line = dump_tree(tree)
    if len(line) < big:
        return line.encode(), {}
    payloads: dict[str, bytes] = {}
    whole = cast("JsonTree", _without_big(tree, payloads, salt.encode(), big))
    return dump_tree(whole).encode() if payloads else line.encode(), payloads


def _tree_of(record: Record) -> JsonTree:
    tree: JsonTree = {"v": CURRENT_VERSION}
    match record:
        case HeaderRecord(header, redacted):
            tree |= {"type": "header", "header": to_json(header)}
            if redacted:
                tree["redacted"] = True
        case EntryRecord(entry, notes, increment):
            tree |= {"type": "entry", "entry": to_json(entry)}
            if notes:
                tree["notes"] = [to_json(note) for note in notes]
            if increment is not None:
                tree["increment"] = _increment_tree(increment)
        case BaseRecord(increment):
            tree |= {"type": "base", "increment": _increment_tree(increment)}
    return tree


def _increment_tree(increment: Increment) -> JsonTree:
    tree: JsonTree = {"messages": increment.messages, "steps": increment.steps}
    if increment.keeps_base:
        tree["keeps_base"] = True
    tree["state"] = to_json(increment.state)
    return tree


def _without_big(tree: object, payloads: dict[str, bytes], salt: bytes, big: int) -> object:
    match tree:
        case str() if len(tree) >= big:
            data = tree.encode()
            digest = hashlib.sha256(salt + data).hexdigest()
            payloads[digest] = data
            return {"type": _PAYLOAD, "sha256": digest}
        case dict():
            items = cast("JsonTree", tree).items()
            return {key: _without_big(value, payloads, salt, big) for key, value in items}
        case list():
            members = cast("list[object]", tree)
            return [_without_big(value, payloads, salt, big) for value in members]
        case _:
            return tree


_PAYLOAD: Final = "payload"

# --- reading ----------------------------------------------------------------------------------


@final
class _DamagedError(Exception):
    """Leaves the readers below; holds what is wrong."""

    def __init__(self, fault: DecodeFault) -> None:
        super().__init__(str(fault))
        self.fault: Final = fault


def decode_record(data: bytes, payloads: Payloads) -> Outcome[Record, DecodeFault]:
    """Read a line that `encode_record` wrote, with the payloads that it refers to."""
    try:
        tree, version = _parsed(data, payloads)
        return Success(_record(tree, version))
    except _DamagedError as error:
        return Failure(error.fault)


def decode_increment(data: bytes, payloads: Payloads) -> Outcome[Increment | None, DecodeFault]:
    """Read nothing of a line but its increment; `None` where it has none."""
    if b'"increment":' not in data:
        return Success(None)
    try:
        tree, version = _parsed(data, payloads)
        return Success(_increment(tree, version) if "increment" in tree else None)
    except _DamagedError as error:
        return Failure(error.fault)


def _parsed(data: bytes, payloads: Payloads) -> tuple[JsonTree, int]:
    try:
        tree: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        message = f"expected a line of JSON: {error}"
        raise _DamagedError(DecodeFault("", message)) from None
    if not isinstance(tree, dict):
        raise _DamagedError(DecodeFault("", f"expected an object, got {type(tree).__name__}"))
    if b'"sha256":' in data:
        tree = _with_big(cast("object", tree), payloads)
    found = cast("JsonTree", tree)
    version = found.get("v")
    if type(version) is not int:
        raise _DamagedError(DecodeFault("/v", f"expected a version, got {version!r:.80}"))
    return found, version


def _with_big(tree: object, payloads: Payloads) -> object:
    if isinstance(tree, list):
        return [_with_big(value, payloads) for value in cast("list[object]", tree)]
    if not isinstance(tree, dict):
        return tree
    told = cast("JsonTree", tree)
    if told.get("type") != _PAYLOAD:
        return {key: _with_big(value, payloads) for key, value in told.items()}
    data = payloads.get(str(told.get("sha256")))
    if data is None:
        message = f"the payload {told.get('sha256')!r:.100} is missing"
        raise _DamagedError(DecodeFault("", message))
    return data.decode()


def _record(tree: JsonTree, version: int) -> Record:
    match tree.get("type"):
        case "header":
            header = _value(tree, "header", JournalHeader, version)
            return HeaderRecord(header, tree.get("redacted") is True)
        case "entry":
            entry = _value(tree, "entry", JournalEntry, version)
            given = tree.get("notes", [])
            if not isinstance(given, list):
                raise _DamagedError(DecodeFault("/notes", "expected an array"))
            notes = tuple(
                _read(note, f"/notes/{place}", Note, version)
                for place, note in enumerate(cast("list[object]", given))
            )
            increment = _increment(tree, version) if "increment" in tree else None
            return EntryRecord(entry, notes, increment)
        case "base":
            return BaseRecord(_increment(tree, version))
        case other:
            message = f"expected header, entry or base, got {other!r:.80}"
            raise _DamagedError(DecodeFault("/type", message))


def _increment(tree: JsonTree, version: int) -> Increment:
    given = tree.get("increment")
    if not isinstance(given, dict):
        message = f"expected an object, got {type(given).__name__}"
        raise _DamagedError(DecodeFault("/increment", message))
    told = cast("JsonTree", given)
    messages, steps = told.get("messages"), told.get("steps")
    if type(messages) is not int or type(steps) is not int:
        raise _DamagedError(DecodeFault("/increment", "expected the integers messages and steps"))
    state = _read(told.get("state"), "/increment/state", LoopState, version)
    return Increment(state, messages, steps, told.get("keeps_base") is True)


def _value(tree: JsonTree, key: str, kind: TypeForm[T], version: int) -> T:
    return _read(tree.get(key), f"/{key}", kind, version)


def _read(tree: object, path: str, kind: TypeForm[T], version: int) -> T:
    if version != CURRENT_VERSION and isinstance(tree, dict):
        match migrate(cast("JsonTree", tree), version):
            case Success(migrated):
                tree = migrated
            case Failure(fault):
                raise _DamagedError(fault)
    match from_json(tree, kind):
        case Success(value):
            return value
        case Failure(fault):
            raise _DamagedError(DecodeFault(path + fault.path, fault.message))
