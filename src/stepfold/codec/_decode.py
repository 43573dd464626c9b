"""From JSON trees to values: for each form a function, made once. Nothing is coerced."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NoReturn, Protocol, TypeAlias, TypeVar, cast

from stepfold.codec._derived import BUILDERS
from stepfold.codec._faults import RefusedError, named, shown
from stepfold.codec._forms import (
    TAGGED,
    Form,
    Items,
    Member,
    Object,
    Row,
    Scalar,
    Single,
    Words,
    members_of,
)
from stepfold.codec._text import WTF_8, check_json, read_bytes, read_number, read_text
from stepfold.values import JsonText, UsageError

Decoder: TypeAlias = Callable[[object], object]


def _refused(expected: str, tree: object) -> RefusedError:
    return RefusedError(f"expected {expected}, got {named(tree)}")


def _null(tree: object) -> object:
    if tree is None:
        return None
    raise _refused("null", tree)


def _boolean(tree: object) -> object:
    if tree is True or tree is False:
        return tree
    raise _refused("a boolean", tree)


def _integer(tree: object) -> object:
    if type(tree) is int:
        return tree
    raise _refused("an integer", tree)


def _json(tree: object) -> object:
    text = read_text(tree)
    check_json(text)
    return JsonText(text)


_SCALARS: Final[dict[Scalar, Decoder]] = {
    Scalar.NULL: _null,
    Scalar.BOOLEAN: _boolean,
    Scalar.INTEGER: _integer,
    Scalar.NUMBER: read_number,
    Scalar.STRING: read_text,
    Scalar.BYTES: read_bytes,
    Scalar.JSON: _json,
}
_TYPES: Final[dict[Scalar, tuple[type, ...]]] = {
    Scalar.NULL: (type(None),),
    Scalar.BOOLEAN: (bool,),
    Scalar.INTEGER: (int,),
    Scalar.NUMBER: (float, int, str),
    Scalar.STRING: (str,),
    Scalar.BYTES: (str,),
    Scalar.JSON: (str,),
}


@cache
def decoder_of(form: Form) -> Decoder:
    """Make the function that reads values of this form; it raises nothing but `RefusedError`."""
    match form:
        case Scalar():
            return _SCALARS[form]
        case Words(words):
            return _words(frozenset(words))
        case Items(item):
            return _items(decoder_of(item))
        case Row(items):
            return _row(tuple(decoder_of(item) for item in items))
        case Object(kind):
            return object_decoder(kind, TAGGED.get(kind))
        case _:
            return choice_decoder(form.forms, TAGGED)


def _words(words: frozenset[str]) -> Decoder:
    expected = f"one of {', '.join(sorted(words))}"

    def decode(tree: object) -> object:
        if type(tree) is not str:
            raise _refused(expected, tree)
        if tree not in words:
            message = f"expected {expected}, got {shown(tree)}"
            raise RefusedError(message)
        return tree

    return decode


def _items(item: Decoder) -> Decoder:
    def decode(tree: object) -> object:
        if type(tree) is not list:
            raise _refused("an array", tree)
        trees = cast("list[object]", tree)
        values: list[object] = []
        try:
            for one in trees:
                values.append(item(one))  # noqa: PERF401 - the length says which one was refused
        except RefusedError as error:
            error.at(len(values))
            raise
        return tuple(values)

    return decode


def _row(items: tuple[Decoder, ...]) -> Decoder:
    def decode(tree: object) -> object:
        if type(tree) is not list:
            raise _refused("an array", tree)
        trees = cast("list[object]", tree)
        if len(trees) != len(items):
            message = f"expected an array of {len(items)} items, got {len(trees)}"
            raise RefusedError(message)
        values: list[object] = []
        try:
            for one, item in zip(trees, items, strict=True):
                values.append(item(one))
        except RefusedError as error:
            error.at(len(values))
            raise
        return tuple(values)

    return decode


def object_decoder(kind: type, tag: str | None) -> Decoder:
    """Make the function that reads objects of a class, with its tag or (`None`) without."""
    build = cast("_Build", BUILDERS.get(kind, kind))
    members = members_of(kind)
    positional = tuple(_reader(member) for member in members if not member.is_keyword)
    keywords = tuple(_reader(member) for member in members if member.is_keyword)
    known = (*(() if tag is None else ("type",)), *(member.key for member in members))

    def decode(tree: object) -> object:
        if type(tree) is not dict:
            raise _refused("an object", tree)
        given = cast("dict[str, object]", tree)
        arguments: list[object] = []
        options: dict[str, object] = {}
        seen = 0
        key = "type"
        try:
            if tag is not None:
                seen = 1
                if given.get("type") != tag:
                    _refuse(_unlike(tag, given))
            for key, read, default in positional:
                item = given.get(key, _ABSENT)
                if item is not _ABSENT:
                    arguments.append(read(item))
                    seen += 1
                elif default is _ABSENT:
                    _refuse("missing")
                else:
                    arguments.append(default)
            for key, read, default in keywords:
                item = given.get(key, _ABSENT)
                if item is not _ABSENT:
                    options[key] = read(item)
                    seen += 1
                elif default is _ABSENT:
                    _refuse("missing")
            if seen != len(given):
                key = next(key for key in given if key not in known)
                _refuse(f"unknown key; expected one of {', '.join(known)}")
        except RefusedError as error:
            error.at(key)
            raise
        return build(*arguments, **options)

    return decode


_ABSENT: Final = object()


class _Build(Protocol):
    def __call__(self, *arguments: object, **options: object) -> object: ...


def _refuse(message: str) -> NoReturn:
    raise RefusedError(message)


def _unlike(expected: str, given: dict[str, object]) -> str:
    """Say which type was expected, and which one the object says."""
    tag = given.get("type", _ABSENT)
    if type(tag) is str:
        return f"expected {expected}, got {shown(tag)}"
    return f"expected {expected}, got {'nothing' if tag is _ABSENT else named(tag)}"


def _reader(member: Member) -> tuple[str, Decoder, object]:
    return (
        member.key,
        decoder_of(member.form),
        _ABSENT if member.is_required else member.default,
    )


def choice_decoder(forms: tuple[Single, ...], tags: Mapping[type, str]) -> Decoder:
    """Make the function that reads one of several forms; classes are told apart by their tag."""
    readers: dict[type, Decoder] = {}
    tagged: dict[str, Decoder] = {}
    escaped: dict[str, Decoder] = {}
    for form in forms:
        if isinstance(form, Object) and form.kind in tags:
            tag = tags[form.kind]
            _add(tagged, tag, object_decoder(form.kind, tag))
            continue
        reader = decoder_of(form)
        if form in {Scalar.STRING, Scalar.JSON}:
            escaped[WTF_8] = reader
        for kind in _types_of(form):
            _add(readers, kind, reader)
    expected = " or ".join(dict.fromkeys(named(kind()) for kind in readers))
    if tagged:
        _add(readers, dict, _tagged(tagged | escaped))
        expected = " or ".join(filter(None, (expected, "an object")))
    elif escaped:
        _add(readers, dict, escaped[WTF_8])
    if readers.keys() == {dict}:
        return readers[dict]

    def decode(tree: object) -> object:
        read = readers.get(type(tree))
        if read is None:
            raise _refused(expected, tree)
        return read(tree)

    return decode


T = TypeVar("T")


def _add(readers: dict[T, Decoder], key: T, reader: Decoder) -> None:
    if key in readers:
        message = f"expected a union whose members JSON can tell apart, got two for {key!r}"
        raise UsageError(message)
    readers[key] = reader


def _types_of(form: Single) -> tuple[type, ...]:
    match form:
        case Scalar():
            return _TYPES[form]
        case Words():
            return (str,)
        case Items() | Row():
            return (list,)
        case _:
            return (dict,)


def _tagged(readers: dict[str, Decoder]) -> Decoder:
    expected = f"one of {', '.join(readers)}"

    def decode(tree: object) -> object:
        if type(tree) is not dict:
            raise _refused("an object", tree)
        given = cast("dict[str, object]", tree)
        tag = given.get("type")
        read = readers.get(tag) if type(tag) is str else None
        if read is not None:
            return read(given)
        error = RefusedError(_unlike(expected, given))
        error.at("type")
        raise error

    return decode
