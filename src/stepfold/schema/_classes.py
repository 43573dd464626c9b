"""What the classes of a user say about themselves: fields, defaults, words, and code that runs.

attrs classes, dataclasses, `TypedDict`s and `NamedTuple`s are read by their own introspection;
nothing of the user's is called here.
"""

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import ClassVar, Literal, TypeAlias, final, get_args, get_origin

import attrs
import typing_extensions
from attrs import frozen

from stepfold.schema._docstrings import Documentation, documentation_of
from stepfold.schema._hints import hints_of
from stepfold.schema._kinds import members_of, tuple_in
from stepfold.values._errors import UsageError


class _NoDefault:
    """There is no default, or none that can be shown."""


NO_DEFAULT = _NoDefault()

# Factories that run no code of the user's and make an empty value.
_EMPTY_FACTORIES: tuple[Callable[[], object], ...] = (
    list, dict, set, frozenset, tuple, str, bytes, int, float, bool,
)  # fmt: skip
_QUALIFIERS: tuple[object, ...] = (
    typing_extensions.Required, typing_extensions.NotRequired, typing_extensions.ReadOnly,
)  # fmt: skip

ClassKind: TypeAlias = Literal["attrs", "dataclass", "typed-dict", "named-tuple"]


@final
@frozen(order=False, eq=False)
class Field:
    """One field that the constructor takes; `attribute` is where the object keeps it."""

    name: str
    attribute: str
    annotation: object
    is_required: bool
    default: object = NO_DEFAULT
    description: str = ""


@final
@frozen(order=False, eq=False)
class Shape:
    """A class taken apart."""

    fields: tuple[Field, ...]
    description: str
    runs_user_code: bool


def kind_of_class(cls: type[object]) -> ClassKind | None:
    """Which kind of class with fields this is, if any."""
    if attrs.has(cls):
        return "attrs"
    if dataclasses.is_dataclass(cls):
        return "dataclass"
    if typing_extensions.is_typeddict(cls):
        return "typed-dict"
    if tuple_in(cls, "_fields") and issubclass(cls, tuple):
        return "named-tuple"
    return None


def shape_of(cls: type[object], kind: ClassKind, *, where: str) -> Shape:
    """Take a class apart.

    Raises:
        UsageError: when an annotation is missing or cannot be resolved, or when a dataclass asks
            for an `InitVar`, which no object could give back.
    """
    hints = hints_of(cls, where=where)
    read = {
        "attrs": _attrs_fields,
        "dataclass": _dataclass_fields,
        "typed-dict": _typed_dict_fields,
        "named-tuple": _named_tuple_fields,
    }[kind]
    documentation = _documentation_of_class(cls)
    fields = tuple(
        attrs.evolve(field, description=field.description or documentation.of(field.attribute))
        for field in read(cls, hints, where)
    )
    return Shape(fields, documentation.description, _runs_user_code(cls, kind))


def fields_of_object(value: object) -> tuple[tuple[str, str], ...] | None:
    """Pairs of wire name and attribute of an object of a class with fields, if it is one."""
    cls = type(value)
    if attrs.has(cls):
        return tuple((_alias(field), field.name) for field in attrs.fields(cls) if field.init)
    if dataclasses.is_dataclass(cls):
        return tuple((field.name, field.name) for field in dataclasses.fields(cls) if field.init)
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return tuple((name, name) for name in _names(cls))
    return None


def _documentation_of_class(cls: type[object]) -> Documentation:
    entries: dict[str, str] = {}
    description = ""
    for base in reversed(cls.__mro__):
        text: object = base.__dict__.get("__doc__")
        # dataclass and NamedTuple write a signature where there is no docstring.
        if base is object or not isinstance(text, str) or text.startswith(f"{base.__name__}("):
            continue
        documentation = documentation_of(text)
        entries.update(documentation.entries)
        description = documentation.description if base is cls else description
    return Documentation(description, tuple(entries.items()))


def description_of_class(cls: type[object]) -> str:
    """The docstring of a class without its sections; none that Python wrote by itself."""
    return _documentation_of_class(cls).description


def _attributes(cls: type[object]) -> "tuple[attrs.Attribute[object], ...]":
    return tuple(attrs.fields(cls)) if attrs.has(cls) else ()


def _alias(attribute: "attrs.Attribute[object]") -> str:
    return attribute.alias or attribute.name


def _attrs_fields(cls: type[object], hints: dict[str, object], where: str) -> list[Field]:
    fields: list[Field] = []
    for attribute in _attributes(cls):
        annotation: object = hints.get(attribute.name, attribute.type)
        if not attribute.init:
            continue
        if annotation is None and attribute.name not in hints:
            raise _unannotated(where, attribute.name)
        default: object = attribute.default
        factory: object = getattr(default, "factory", NO_DEFAULT)
        is_required = default is attrs.NOTHING
        fields.append(
            Field(
                name=_alias(attribute),
                attribute=attribute.name,
                annotation=annotation,
                is_required=is_required,
                default=NO_DEFAULT if is_required else _shown_default(default, factory),
                description=_words(attribute.metadata),
            )
        )
    return fields


def _dataclass_fields(cls: type[object], hints: dict[str, object], where: str) -> list[Field]:
    fields: list[Field] = []
    for name, field in _dataclass_table(cls).items():
        is_required = (
            field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        )
        hint = hints.get(name)
        if isinstance(hint, dataclasses.InitVar) and is_required:
            raise UsageError(
                f"{where}: expected fields that the object keeps, got InitVar {name!r}; give it "
                "a default or make it a field"
            )
        if isinstance(hint, dataclasses.InitVar) or get_origin(hint) is ClassVar or not field.init:
            continue
        factory: object = field.default_factory
        factory = NO_DEFAULT if factory is dataclasses.MISSING else factory
        fields.append(
            Field(
                name=name,
                attribute=name,
                annotation=hint,
                is_required=is_required,
                default=NO_DEFAULT if is_required else _shown_default(field.default, factory),
                description=_words(field.metadata),
            )
        )
    return fields


def _dataclass_table(cls: type[object]) -> dict[str, dataclasses.Field[object]]:
    # Not `dataclasses.fields`, which leaves out the InitVars.
    table: Mapping[str, dataclasses.Field[object]] = getattr(cls, "__dataclass_fields__", {})
    return dict(table)


def _typed_dict_fields(cls: type[object], hints: dict[str, object], where: str) -> list[Field]:
    required: frozenset[str] = getattr(cls, "__required_keys__", frozenset[str]())
    fields: list[Field] = []
    for name, hint in hints.items():
        is_required = name in required
        annotation = hint
        # `__required_keys__` is wrong about qualifiers under `from __future__ import annotations`.
        while (qualifier := get_origin(annotation)) in _QUALIFIERS:
            is_required = (
                qualifier is typing_extensions.Required
                if qualifier is not typing_extensions.ReadOnly
                else is_required
            )
            annotation = get_args(annotation)[0]
        fields.append(Field(name, name, annotation, is_required))
    return fields


def _named_tuple_fields(cls: type[object], hints: dict[str, object], where: str) -> list[Field]:
    defaults: object = getattr(cls, "_field_defaults", {})
    shown = members_of(defaults)
    fields: list[Field] = []
    for name in _names(cls):
        if name not in hints:
            raise _unannotated(where, name)
        default = shown.get(name, NO_DEFAULT)
        fields.append(Field(name, name, hints[name], name not in shown, default))
    return fields


def _names(cls: type[object]) -> tuple[str, ...]:
    return tuple(map(str, tuple_in(cls, "_fields")))


def _shown_default(default: object, factory: object) -> object:
    if factory is NO_DEFAULT:
        return default
    for empty in _EMPTY_FACTORIES:
        if factory is empty:
            return empty()
    return NO_DEFAULT


def _words(metadata: Mapping[object, object]) -> str:
    words = metadata.get("description")
    return words if isinstance(words, str) else ""


def _unannotated(where: str, name: str) -> UsageError:
    return UsageError(
        f"{where}: expected a type for each field, got {name!r} without one; annotate it"
    )


def _runs_user_code(cls: type[object], kind: ClassKind) -> bool:
    """Whether making an object can run code that is not generated."""
    if kind == "typed-dict":
        return False
    if type(cls).__call__ is not type.__call__:
        return True
    if kind == "named-tuple":
        return cls.__init__ is not object.__init__ or not _is_generated(cls.__new__)
    hooks = ("__attrs_pre_init__", "__attrs_post_init__", "__post_init__")
    if cls.__new__ is not object.__new__ or any(hasattr(cls, hook) for hook in hooks):
        return True
    if not (_is_generated(cls.__init__) and _is_generated(cls.__setattr__)):
        return True
    if kind == "attrs":
        return any(
            attribute.validator is not None
            or getattr(attribute, "converter", None) is not None
            or _is_foreign(getattr(attribute.default, "factory", list))
            for attribute in _attributes(cls)
        )
    return any(
        field.default_factory is not dataclasses.MISSING and _is_foreign(field.default_factory)
        for field in _dataclass_table(cls).values()
    )


def _is_foreign(factory: object) -> bool:
    return not any(factory is known for known in _EMPTY_FACTORIES)


def _is_generated(function: object) -> bool:
    if function is object.__setattr__ or getattr(function, "__module__", "") == "attr._make":
        return True
    code: object = getattr(function, "__code__", None)
    return isinstance(code, types.CodeType) and (
        code.co_filename.startswith("<attrs generated")
        or "__create_fn__" in code.co_qualname  # dataclass
        or code.co_name == "<lambda>"  # NamedTuple
    )
