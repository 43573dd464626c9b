"""Python types become trees of nodes.

    None bool int float str          themselves; int and float never coerce
    bytes date datetime time         strings with a grammar (see `_grammars`)
    timedelta Decimal UUID
    Literal, Enum                    the values, or the names where a value is no JSON scalar
    X | Y, Optional                  anyOf: the first member that accepts a value binds it
    list tuple set frozenset         arrays; sets have unique items that can be hashed
    Sequence Collection Iterable     tuples; Set, AbstractSet: frozensets; Mutable…: lists, sets
    tuple[X, Y]                      an array of exactly these
    dict Mapping                     an object; keys are strings or travel as such
    attrs, dataclass, TypedDict,     closed objects; NamedTuple too, since names tell a model more
    NamedTuple                       than positions
    pydantic models                  their own schema, bound by their own validation
    object, Any, JsonValue           any JSON
    JsonText, JsonObject             any JSON kept as text; any object
    Annotated, NewType, aliases,     what they stand for
    TypeVar, forward references

A type that is not here is refused when the form is made, never when a model calls.
"""

import enum
import json
import re
import types
from collections import abc
from collections.abc import Mapping
from typing import Annotated, Any, ForwardRef, Literal, TypeVar, Union, get_args, get_origin

import attrs
import typing_extensions

from stepfold.schema._accept import Compiler
from stepfold.schema._bind import Builders
from stepfold.schema._classes import (
    NO_DEFAULT,
    Field,
    description_of_class,
    kind_of_class,
    shape_of,
)
from stepfold.schema._constraints import Constraint, metadata_in
from stepfold.schema._decoder import Decoder
from stepfold.schema._faults import shortened
from stepfold.schema._form import TypedForm, form_runs_user_code
from stepfold.schema._grammars import GRAMMAR_OF_TYPE
from stepfold.schema._hints import TypeVariables, meaning_of, stands_for, variables_of
from stepfold.schema._kinds import is_array, is_class, is_enum, is_object, members_of, tuple_in
from stepfold.schema._narrowing import constrained, is_hashable, is_textual
from stepfold.schema._nodes import (
    AnyNode,
    ArrayKind,
    ArrayNode,
    BooleanNode,
    ChoiceNode,
    DescribedNode,
    GrammarNode,
    MapNode,
    ModelNode,
    Node,
    NullNode,
    NumberNode,
    ObjectNode,
    Property,
    ReferenceNode,
    StringNode,
    TupleNode,
    UnionNode,
)
from stepfold.schema._schema import SchemaWriter
from stepfold.schema._unbind import encode_result, wire_of_member
from stepfold.values._errors import UsageError
from stepfold.values._json import JsonInput, JsonObject, JsonText, JsonValue, dump_json
from stepfold.values._outcome import Success

_SCALARS: dict[object, Node] = {
    None: NullNode(),
    type(None): NullNode(),
    bool: BooleanNode(),
    int: NumberNode(is_integer=True),
    float: NumberNode(is_integer=False),
    str: StringNode(),
    object: AnyNode(),
    Any: AnyNode(),
    typing_extensions.Any: AnyNode(),
    JsonText: AnyNode("text"),
    JsonObject: AnyNode("frozen", objects_only=True),
}
_ARRAYS: dict[object, ArrayKind] = {
    list: "list",
    abc.MutableSequence: "list",
    abc.Sequence: "tuple",
    abc.Collection: "tuple",
    abc.Iterable: "tuple",
    set: "set",
    abc.MutableSet: "set",
    frozenset: "frozenset",
    abc.Set: "frozenset",
}
_MAPS = (dict, abc.Mapping, abc.MutableMapping)


class AnnotationReader:
    """Reads the annotations of one form; definitions gather as classes are met."""

    def __init__(self) -> None:
        self.definitions: dict[str, Node] = {}
        self.foreign: dict[str, JsonText] = {}
        self._names: dict[object, str] = {}

    def node(self, annotation: object, where: str, variables: TypeVariables) -> Node:
        """Read one annotation.

        Raises:
            UsageError: for a type that is not supported.
        """
        scalar = _scalar(annotation)
        if scalar is not None:
            return scalar
        if annotation == JsonValue:
            return AnyNode("frozen")
        if annotation == JsonInput:
            return AnyNode()
        if isinstance(annotation, TypeVar):
            return self.node(stands_for(annotation, variables), where, variables)
        if isinstance(annotation, str | ForwardRef):
            raise _refused(where, annotation, "refer to types that are defined at module level")
        origin = get_origin(annotation)
        arguments = get_args(annotation)
        if origin is Annotated:
            return self._annotated(arguments, where, variables)
        if origin is Literal:
            return _literal(arguments, where)
        if origin is Union or isinstance(annotation, types.UnionType):
            members = [self.node(argument, where, variables) for argument in arguments]
            return UnionNode(tuple(dict.fromkeys(members)))
        if _is_alias(annotation) or _is_alias(origin):
            return self._alias(annotation, where, variables)
        supertype: object = getattr(annotation, "__supertype__", None)
        if supertype is not None:
            return self.node(supertype, where, variables)
        return self._class(annotation, origin, arguments, where, variables)

    def _class(
        self,
        annotation: object,
        origin: object,
        arguments: tuple[object, ...],
        where: str,
        variables: TypeVariables,
    ) -> Node:
        cls = annotation if origin is None else origin
        if not is_class(cls):
            raise _refused(where, annotation, "use a class, a union, a Literal or a collection")
        if cls in GRAMMAR_OF_TYPE:
            return GrammarNode(GRAMMAR_OF_TYPE[cls].name)
        if is_enum(cls):
            return self._enum(cls, where)
        if cls in _ARRAYS or cls is tuple:
            return self._array(cls, annotation, arguments, where, variables)
        if cls in _MAPS:
            return self._map(arguments, where, variables)
        if hasattr(cls, "model_json_schema") and hasattr(cls, "model_validate_json"):
            return self._model(cls, where)
        kind = kind_of_class(cls)
        if kind is None:
            raise _refused(
                where,
                annotation,
                "make it an attrs class, a dataclass, a TypedDict or a NamedTuple",
            )
        inner = tuple(_substituted(argument, variables) for argument in arguments)
        key = (cls, *map(_hashable, inner))
        if key in self._names:
            return ReferenceNode(self._names[key])
        name = self._named(key, _name_of(cls, inner))
        place = f"{cls.__qualname__}, in {where}" if where else cls.__qualname__
        shape = shape_of(cls, kind, where=place)
        within = variables_of(cls, inner)
        self.definitions[name] = ObjectNode(
            properties=tuple(self.property(field, place, within) for field in shape.fields),
            constructor=None if kind == "typed-dict" else cls,
            description=shape.description,
            runs_user_code=shape.runs_user_code,
        )
        return ReferenceNode(name)

    def property(self, field: Field, where: str, variables: TypeVariables) -> Property:
        """Read one field or parameter.

        Raises:
            UsageError: for a type that is not supported, naming the field.
        """
        node = self.node(field.annotation, f"{field.name!r} of {where}", variables)
        description = field.description
        if isinstance(node, DescribedNode):
            description = node.description
        return Property(
            name=field.name,
            node=node.node if isinstance(node, DescribedNode) else node,
            is_required=field.is_required,
            default=_default_text(field.default, node),
            description=description,
        )

    def _annotated(
        self, arguments: tuple[object, ...], where: str, variables: TypeVariables
    ) -> Node:
        constraints, description = metadata_in(arguments[1:])
        node = self.node(arguments[0], where, variables)
        for constraint in constraints:
            node = self._constrained(node, constraint, where)
        if not description:
            return node
        inner = node.node if isinstance(node, DescribedNode) else node
        return DescribedNode(inner, description)

    def _constrained(self, node: Node, constraint: Constraint, where: str) -> Node:
        narrowed, used = constrained(node, constraint)
        unused = [
            name
            for name in attrs.fields_dict(Constraint)
            if getattr(constraint, name) is not None and name not in used
        ]
        if unused:
            raise UsageError(
                f"{where}: expected a type that {', '.join(unused)} can bound, got a type "
                "without such a bound; drop it, or check the value in your own code"
            )
        return narrowed

    def _alias(self, annotation: object, where: str, variables: TypeVariables) -> Node:
        """A `type` statement: it may be recursive, so it is a definition like a class."""
        alias = annotation if _is_alias(annotation) else get_origin(annotation)
        inner = tuple(_substituted(argument, variables) for argument in get_args(annotation))
        key = (alias, *map(_hashable, inner))
        if key in self._names:
            return ReferenceNode(self._names[key])
        title = str(getattr(alias, "__name__", "Alias"))
        name = self._named(key, _name_with(title, inner))
        within = dict(zip(tuple_in(alias, "__type_params__"), inner, strict=False))
        meant = meaning_of(alias, where=where)
        node = self.node(meant, f"{title}, in {where}", within)
        self.definitions[name] = node
        return ReferenceNode(name)

    def _array(
        self,
        cls: type[object],
        annotation: object,
        arguments: tuple[object, ...],
        where: str,
        variables: TypeVariables,
    ) -> Node:
        if cls is tuple:
            if annotation is tuple:
                return ArrayNode(item=AnyNode(), kind="tuple")
            if len(arguments) != 2 or arguments[1] is not Ellipsis:
                items = [argument for argument in arguments if argument != ()]
                return TupleNode(tuple(self.node(item, where, variables) for item in items))
        kind: ArrayKind = "tuple" if cls is tuple else _ARRAYS[cls]
        item = self.node(arguments[0], where, variables) if arguments else AnyNode()
        if kind in ("set", "frozenset") and not is_hashable(item, self.definitions):
            raise _refused(where, annotation, "use a list, or items that can be hashed")
        return ArrayNode(item=item, kind=kind)

    def _map(self, arguments: tuple[object, ...], where: str, variables: TypeVariables) -> Node:
        if not arguments:
            return MapNode(key=StringNode(), value=AnyNode())
        key = self.node(arguments[0], where, variables)
        if not is_textual(key):
            raise _refused(where, arguments[0], "use str keys: those of JSON objects are strings")
        return MapNode(key=key, value=self.node(arguments[1], where, variables))

    def _enum(self, cls: type[enum.Enum], where: str) -> Node:
        if issubclass(cls, enum.Flag) or not len(cls):
            raise _refused(where, cls, "use an Enum with members, or a set of one")
        return ChoiceNode(
            tuple((JsonText(dump_json(wire_of_member(member))), member) for member in cls),
            description_of_class(cls),
        )

    def _model(self, cls: type[object], where: str) -> Node:
        if cls in self._names:
            return ReferenceNode(self._names[cls])
        name = self._named(cls, cls.__name__)
        try:
            document: object = getattr(cls, "model_json_schema")()  # noqa: B009 - duck typing
        except Exception as error:
            raise _refused(where, cls, f"mend it ({shortened(repr(error))})") from error
        text = encode_result(document).value_or(None)
        plain: object = json.loads(text.text if isinstance(text, JsonText) else "null")
        if not is_object(plain):
            raise _refused(where, cls, "return a JSON Schema object from model_json_schema")
        schema = dict(plain)
        nested = members_of(schema.pop("$defs", {}))
        renamed = {inner: self._named((cls, inner), inner) for inner in nested}
        for inner, definition in nested.items():
            self.foreign[renamed[inner]] = JsonText(dump_json(_renamed(definition, renamed)))
        self.definitions[name] = ModelNode(cls, JsonText(dump_json(_renamed(schema, renamed))))
        return ReferenceNode(name)

    def _named(self, key: object, wanted: str) -> str:
        """Reserve a name among the definitions that is not taken yet."""
        name, count = wanted, 1
        taken = {*self._names.values()}
        while name in taken:
            count += 1
            name = f"{wanted}_{count}"
        self._names[key] = name
        return name


def _literal(arguments: tuple[object, ...], where: str) -> Node:
    options: list[tuple[JsonText, object]] = []
    for value in arguments:
        wire = wire_of_member(value) if isinstance(value, enum.Enum) else value
        if wire is not None and type(wire) not in (str, int, bool, float):
            raise _refused(where, value, "use str, int, bool, None or members of an enum")
        options.append((JsonText(dump_json(wire)), value))
    return ChoiceNode(tuple(options))


def _default_text(default: object, node: Node) -> JsonText | None:
    if default is NO_DEFAULT:
        return None
    if default is None and isinstance(node, NumberNode | StringNode | BooleanNode | ArrayNode):
        return None  # `x: int = None`: the schema does not accept it
    match encode_result(default):
        case Success(text):
            return text
        case _:
            return None


def _scalar(annotation: object) -> Node | None:
    try:
        return _SCALARS.get(annotation)
    except TypeError:  # it cannot be hashed, or its metadata cannot
        return None


def _hashable(argument: object) -> object:
    try:
        hash(argument)
    except TypeError:
        return repr(argument)
    return argument


def _is_alias(annotation: object) -> bool:
    return type(annotation).__name__ == "TypeAliasType"


def _substituted(argument: object, variables: TypeVariables) -> object:
    return stands_for(argument, variables) if isinstance(argument, TypeVar) else argument


def _name_of(cls: type[object], arguments: tuple[object, ...]) -> str:
    return _name_with(cls.__name__, arguments)


def _name_with(title: str, arguments: tuple[object, ...]) -> str:
    parts = [title, *(str(getattr(argument, "__name__", "of")) for argument in arguments)]
    return re.sub("[^A-Za-z0-9_]", "_", "_".join(parts))


def _renamed(schema: object, names: Mapping[str, str]) -> object:
    """A schema with references to other names in `$defs`."""
    if is_object(schema):
        renamed = {key: _renamed(value, names) for key, value in schema.items()}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix("#/$defs/")
            renamed["$ref"] = f"#/$defs/{names.get(name, name)}"
        return renamed
    if is_array(schema):
        return [_renamed(item, names) for item in schema]
    return schema


def _refused(where: str, annotation: object, advice: str) -> UsageError:
    shown = annotation.__qualname__ if isinstance(annotation, type) else repr(annotation)
    return UsageError(
        f"{where}: expected a type with a JSON form, got {shortened(shown, 120)}; {advice}"
    )


def form_of(annotation: object, *, where: str) -> TypedForm:
    """Compile the form of a Python type.

    `where` names the place in errors, such as `"output of Agent"`.

    Raises:
        UsageError: for a type that has no JSON form, or whose annotations cannot be resolved.
    """
    reader = AnnotationReader()
    return compiled_form(reader, reader.node(annotation, where, {}), where=where)


def compiled_form(reader: AnnotationReader, root: Node, *, where: str) -> TypedForm:
    """Write the schema of a tree, and compile its decoder and its builder."""
    definitions = tuple(reader.definitions.items())
    writer = SchemaWriter(root, reader.definitions, reader.foreign)
    document = writer.document()
    decoder = Decoder(JsonText(dump_json(document)), where=where)
    compiler = Compiler(document)
    builders = Builders(reader.definitions, lambda node: compiler.compiled(writer.written(node)))
    return TypedForm(
        root=root,
        definitions=definitions,
        schema=decoder.schema,
        decoder=decoder,
        build=builders.builder(root),
        runs_user_code=form_runs_user_code(root, definitions),
    )
