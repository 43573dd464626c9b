"""Recordings that may leave: what was said is cut out, what happened stays.

Every text, JSON document and file in a recording is replaced, but for those that are names: of
models, tools, calls, runs. Words of a closed list (finish reasons, kinds of errors) stay as well.
"""

import types
import typing
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Final, Protocol, Union, cast

import attrs
from attrs import evolve

from stepfold.durable._recording import Recording
from stepfold.values import JsonText

NAMES: Final = frozenset(
    {
        "active_tools",
        "approval_id",
        "called",
        "calls_of",
        "commands",
        "errors",
        "fingerprint",
        "found",
        "hook",
        "id",
        "issued",
        "media_type",
        "model",
        "model_id",
        "name",
        "parent",
        "prices",
        "run",
        "seen",
        "subject",
        "tool_call_id",
        "tool_name",
        "tool_order",
        "tool_time",
    }
)
"""Attributes whose texts are names, and stay."""


def hidden(text: str) -> str:
    """How long a text was, as JSON that is a text."""
    return f'"[{len(text):,} characters]"'


def redacted(recording: Recording, redact: Callable[[str], str] = hidden) -> Recording:
    """Cut out of a recording all that was said: prompts, replies, arguments, results, files.

    What is left can be looked at, by `inspect` and `page_of`; it is marked, and cannot be
    replayed. `redact` is given each text and says what stands in its place; where that was JSON,
    it has to be JSON.

    Raises:
        UsageError: `redact` gave no JSON in the place of JSON.
    """
    return evolve(cast("Recording", _cut(recording, redact)), redacted=True)


def _cut(value: object, redact: Callable[[str], str]) -> object:
    """A value of ours with its texts replaced."""
    changed: dict[str, object] = {}
    for name, is_open in _texts_of(cast("Hashable", type(value))):
        old: object = getattr(value, name)
        new = _cut_any(old, redact, is_open=is_open)
        if new is not old:
            changed[name] = new
    return _changed(value, changed) if changed else value


class _Make(Protocol):
    """A class of ours, as what makes its values."""

    def __call__(self, **members: object) -> object: ...


def _changed(value: object, changed: Mapping[str, object]) -> object:
    """As `evolve`, for a value of any class of ours."""
    make = cast("_Make", type(value))
    return make(
        **{
            attribute.alias: changed.get(attribute.name, getattr(value, attribute.name))
            for attribute in attrs.fields(cast("type[attrs.AttrsInstance]", type(value)))
            if attribute.init
        }
    )


def _cut_any(value: object, redact: Callable[[str], str], *, is_open: bool) -> object:
    match value:
        case str():
            return redact(value) if is_open and value else value
        case JsonText(text):
            return JsonText(redact(text)) if is_open else value
        case bytes():
            return b""
        case tuple():
            items = cast("tuple[object, ...]", value)
            return tuple(_cut_any(item, redact, is_open=is_open) for item in items)
        case _:
            return _cut(value, redact) if attrs.has(type(value)) else value


@cache
def _texts_of(kind: Hashable) -> tuple[tuple[str, bool], ...]:
    """The attributes of a class that may hold texts, and whether theirs are replaced."""
    hints: dict[str, object] = typing.get_type_hints(cast("type", kind))
    return tuple(
        (attribute.name, attribute.name not in NAMES and not _is_closed(hints[attribute.name]))
        for attribute in attrs.fields(cast("type[attrs.AttrsInstance]", kind))
        if attribute.init and attribute.eq
    )


def _is_closed(hint: object) -> bool:
    """Whether a type has nothing but words of a closed list, and `None`."""
    if typing.get_origin(hint) is typing.Literal or hint is type(None):
        return True
    if typing.get_origin(hint) in {Union, types.UnionType}:
        return all(_is_closed(member) for member in typing.get_args(hint))
    return False
