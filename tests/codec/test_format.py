"""The format cannot change unseen: every class has its tag, and the whole is written down.

`tests/data/codec/format-1.txt` lists what version 1 says of each class: tag, keys in order, forms
and defaults. A difference means that bytes written before are read as something else, or not at
all: raise the version, add a migration, and keep the old corpus readable.
"""

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Union

import attrs
import pytest

from stepfold import loop
from stepfold import values as v
from stepfold.codec import _forms as forms
from stepfold.loop import commands, events, notes

FORMAT = Path(__file__).parents[1] / "data" / "codec" / "format-1.txt"

ROOTS: tuple[object, ...] = (
    v.ContentPart,
    v.StreamPart,
    v.Message,
    v.ModelRequest,
    v.RunEnd,
    events.Event,
    commands.Command,
    notes.Note,
    loop.LoopState,
    loop.Transition,
    loop.JournalHeader,
    loop.JournalEntry,
)
# Values that are no data of a run: bounds and faults of the reader, JSON, which is a string, and
# prices, which belong to a program.
NOT_STORED = {v.JsonBounds, v.JsonFault, v.JsonText}


def _classes_in(annotation: object, seen: set[type]) -> Iterator[type]:
    """Yield the attrs classes that a type leads to."""
    for argument in typing.get_args(annotation):
        yield from _classes_in(argument, seen)
    kind = typing.get_origin(annotation) or annotation
    if isinstance(kind, type) and attrs.has(kind) and kind not in seen:
        seen.add(kind)
        yield kind
        hints = typing.get_type_hints(kind)
        for attribute in attrs.fields(kind):
            if attribute.eq:
                yield from _classes_in(hints[attribute.name], seen)


def _unions_in(annotation: object) -> Iterator[tuple[object, ...]]:
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) in {Union, types.UnionType}:
        yield arguments
    for argument in arguments:
        yield from _unions_in(argument)


REACHED: set[type] = set()
for _root in ROOTS:
    REACHED.update(_classes_in(_root, REACHED))


@pytest.mark.parametrize("kind", sorted(REACHED - NOT_STORED, key=repr), ids=repr)
def test_every_class_of_a_run_has_a_tag(kind: type) -> None:
    assert kind in forms.TAGS


def test_every_value_has_a_tag() -> None:
    exported = {getattr(v, name) for name in v.__all__}
    values = {it for it in exported if isinstance(it, type) and attrs.has(it)}

    assert values - set(forms.TAGS) == NOT_STORED


def test_no_tag_is_left_over() -> None:
    assert set(forms.TAGS) - REACHED == set()


def test_members_of_unions_say_their_type_and_no_others() -> None:
    hints = [hint for kind in forms.TAGS for hint in typing.get_type_hints(kind).values()]
    unions = [union for annotation in (*ROOTS, *hints) for union in _unions_in(annotation)]
    members: set[type] = set()
    for union in unions:
        named = {typing.get_origin(it) or it for it in union}
        classes = {kind for kind in forms.TAGS if kind in named}
        tags = [forms.TAGS[kind] for kind in classes]
        assert len(tags) == len(set(tags))
        if len(union) - (type(None) in union) > 1:
            members |= classes

    assert members == set(forms.TAGGED)


@pytest.mark.parametrize("kind", forms.TAGS, ids=repr)
def test_fields_can_be_written_as_they_are_named(kind: type) -> None:
    for attribute in attrs.fields(typing.cast("type[attrs.AttrsInstance]", kind)):
        assert attribute.alias == attribute.name
        assert attribute.name not in {"type", "v"}
        assert not isinstance(attribute.default, attrs.Factory)  # type: ignore[arg-type]


def _described() -> str:
    return "\n".join(sorted(map(_description, forms.TAGS))) + "\n"


def _description(kind: type) -> str:
    how = "tagged" if kind in forms.TAGGED else "record"
    members = [f"    {_member(member)}" for member in forms.written_members_of(kind)]
    return "\n".join([f"{forms.TAGS[kind]} ({kind.__name__}, {how})", *members])


def _member(member: forms.Member) -> str:
    if member.is_required:
        return f"{member.key}: {_form(member.form)}"
    return f"{member.key}: {_form(member.form)} = {member.default!r}"


def _form(form: forms.Form) -> str:
    match form:
        case forms.Scalar():
            return form.value
        case forms.Words(words):
            return " | ".join(map(repr, sorted(words)))
        case forms.Items(item):
            return f"[{_form(item)}, …]"
        case forms.Row(items):
            return f"[{', '.join(map(_form, items))}]"
        case forms.Object(kind):
            return forms.TAGS[kind]
        case forms.Choice(members):
            return " | ".join(sorted(map(_form, members)))


def test_format_is_the_one_that_is_written_down() -> None:
    assert _described() == FORMAT.read_text("utf-8")


if __name__ == "__main__":  # python -m tests.codec.test_format
    FORMAT.write_text(_described(), "utf-8")
