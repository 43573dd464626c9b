"""Whole documents: the version, the migrations, and the bytes."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar, cast, final

from typing_extensions import TypeForm

from stepfold.codec._decode import Decoder, choice_decoder, decoder_of, object_decoder
from stepfold.codec._encode import Encoder, JsonTree, object_encoder
from stepfold.codec._faults import DecodeFault, RefusedError, named
from stepfold.codec._forms import TAGS, Choice, Object, form_of, tag_of
from stepfold.values import (
    Failure,
    JsonBounds,
    Outcome,
    Success,
    UsageError,
    dump_tree,
    parse_json,
)

T = TypeVar("T")

CURRENT_VERSION: Final = 1
"""The version that is written. A change in tags, keys, forms or defaults raises it."""

Migration: TypeAlias = Callable[[JsonTree], Outcome[JsonTree, DecodeFault]]
"""Turns a document of one version, without its `v`, into one of the next."""

MIGRATIONS: Final[Mapping[int, Migration]] = MappingProxyType({})
"""For each version that is still read, what makes the next one of it."""

DOCUMENT_BOUNDS: Final = JsonBounds(length=268_435_456, depth=96)
"""What is read where nothing else is said: the state of a long run fits in."""


# --- writing ----------------------------------------------------------------------------------


def to_json(value: object) -> JsonTree:
    """Give a value as a JSON object of plain dicts and lists, `type` first, without `v`.

    Raises:
        UsageError: for a value of a class that is not stored, or that holds something else than
            its types say; the text has the path.
    """
    return _written(value, _parts[type(value)])


def encode_part(value: object) -> str:
    """Give a value as one line of JSON without `v`, for streams that state the version once.

    Raises:
        UsageError: as `to_json` does.
    """
    return _dump(to_json(value))


def encode(value: object) -> bytes:
    """Give a value as a document: canonical UTF-8 JSON that begins with `{"v":1,"type":`.

    Equal values have equal bytes.

    Raises:
        UsageError: as `to_json` does.
    """
    return _dump(_written(value, _documents[type(value)])).encode()


@final
class _Writers(dict[type, Encoder]):
    """What writes values of a class, made on first use; `head` comes before their `type`."""

    def __init__(self, head: JsonTree) -> None:
        self.head = head

    def __missing__(self, kind: type) -> Encoder:
        write = self[kind] = object_encoder(kind, {**self.head, "type": tag_of(kind)})
        return write


_parts: Final = _Writers({})
_documents: Final = _Writers({"v": CURRENT_VERSION})


def _written(value: object, write: Encoder) -> JsonTree:
    try:
        return cast("JsonTree", write(value))
    except RefusedError as error:
        msg = f"{type(value).__name__} at {error.fault}"
        raise UsageError(msg) from None


def _dump(tree: JsonTree) -> str:
    try:
        return dump_tree(tree)
    except ValueError as error:
        msg = f"expected integers that this process can print: {error}"
        raise UsageError(msg) from None


# --- reading ----------------------------------------------------------------------------------


def decode(
    data: bytes | str, kind: TypeForm[T], *, bounds: JsonBounds = DOCUMENT_BOUNDS
) -> Outcome[T, DecodeFault]:
    """Read a document: a value of `kind`, a class or a union of classes.

    White space, the order of keys, and defaults that are spelt out are of no account. Whatever
    else differs from what `encode` writes is a `DecodeFault`; nothing is guessed and no data
    makes it raise. Older versions are migrated.

    Raises:
        UsageError: if `kind` is no such class or union, or one whose members share a tag.
    """
    read = _readers[kind]
    try:
        return Success(cast("T", read(_current(_parsed(data, bounds)))))
    except RefusedError as error:
        return Failure(error.fault)


def from_json(tree: object, kind: TypeForm[T]) -> Outcome[T, DecodeFault]:
    """Read what `to_json` gives: the current version, without `v`.

    Raises:
        UsageError: as `decode` does.
    """
    read = _readers[kind]
    try:
        return Success(cast("T", read(tree)))
    except RefusedError as error:
        return Failure(error.fault)


def migrate(
    tree: JsonTree,
    version: int,
    *,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    current: int = CURRENT_VERSION,
) -> Outcome[JsonTree, DecodeFault]:
    """Apply the migrations from `version` on, in order, until the document is `current`."""
    if version > current:
        message = f"written as version {version}; this stepfold reads up to {current}: upgrade it"
        return Failure(DecodeFault("/v", message))
    for passed in range(version, current):
        migration = migrations.get(passed)
        if migration is None:
            return Failure(DecodeFault("/v", f"version {passed} cannot be read any more"))
        outcome = migration(tree)
        if isinstance(outcome, Failure):
            return outcome
        tree = outcome.unwrap()
    return Success(tree)


def _parsed(data: bytes | str, bounds: JsonBounds) -> object:
    try:
        text = data if isinstance(data, str) else data.decode()
    except UnicodeDecodeError as error:
        message = f"expected UTF-8, got {error.reason} at byte {error.start}"
        raise RefusedError(message) from None
    outcome = parse_json(text, bounds)
    if isinstance(outcome, Failure):
        fault = outcome.failure()
        where = "" if fault.position is None else f" at character {fault.position}"
        message = f"expected JSON: {fault.message}{where}"
        raise RefusedError(message)
    return outcome.unwrap()


def _current(
    document: object,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    current: int = CURRENT_VERSION,
) -> JsonTree:
    if not isinstance(document, dict):
        message = f"expected an object, got {named(document)}"
        raise RefusedError(message)
    tree = cast("JsonTree", document)
    version = tree.pop("v", _MISSING)
    if version == current and type(version) is int:
        return tree
    if type(version) is not int:
        message = "missing" if version is _MISSING else f"expected an integer, got {named(version)}"
        error = RefusedError(message)
        error.at("v")
        raise error
    outcome = migrate(tree, version, migrations=migrations, current=current)
    if isinstance(outcome, Failure):
        fault = outcome.failure()
        raise RefusedError(fault.message, fault.path)
    return outcome.unwrap()


_MISSING: Final = object()


@final
class _Readers(dict[object, Decoder]):
    """What reads documents of a kind, made on first use."""

    def __missing__(self, kind: object) -> Decoder:
        form = form_of(kind)
        match form:
            case Object(cls):
                read = object_decoder(cls, tag_of(cls))
            case Choice(forms):
                read = choice_decoder(forms, TAGS)
            case _:
                read = decoder_of(form)
        self[kind] = read
        return read


_readers: Final = _Readers()
