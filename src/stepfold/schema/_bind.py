"""JSON that passed the structural decoder becomes Python objects.

Only here may code of the user's run: constructors, validators, converters, pydantic. What it
raises is a fault of the value, with the pointer of the object that was being made. Where no such
code runs, a value that passed the check always binds.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias, final

from stepfold.schema._accept import Accepts, key_of
from stepfold.schema._faults import Faults, SchemaFault, pointer_to, shortened
from stepfold.schema._grammars import GRAMMARS
from stepfold.schema._kinds import items_of, members_of
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
    ReferenceNode,
    StringNode,
    TupleNode,
    UnionNode,
    children_of,
)
from stepfold.values._json import JsonText, dump_json, frozen_json

Build: TypeAlias = Callable[[object], object]
AcceptsNode: TypeAlias = Callable[[Node], Accepts]


@final
class RefusedError(Exception):
    """Leaves the builders; `path` grows from the inside out."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str | int] = []

    def faults(self) -> Faults:
        """The fault that the user's code is to be told."""
        pointer = ""
        for key in reversed(self.path):
            pointer = pointer_to(pointer, key)
        return (SchemaFault(pointer, str(self)),)


def same(value: object) -> object:
    """Bind to the JSON itself."""
    return value


def refusal_of(error: Exception) -> str:
    """The type and text of what the user's code raised, bounded."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - even this is the user's code
        text = "(its text cannot be shown)"
    return shortened(f"{type(error).__name__}: {text}")


class Builders:
    """Compiles nodes to builders; `accepts` gives the check of a node, for unions."""

    def __init__(self, definitions: Mapping[str, Node], accepts: AcceptsNode) -> None:
        self._definitions: Mapping[str, Node] = definitions
        self._accepts: AcceptsNode = accepts
        self._targets: dict[str, list[Build]] = {}

    def builder(self, node: Node) -> Build:
        """Compile one node; `same` where nothing needs to be built."""
        match node:
            case NullNode() | BooleanNode() | StringNode():
                return same
            case AnyNode(view):
                return _VIEWS[view]
            case NumberNode():
                return _integer if node.is_integer else _number
            case GrammarNode(name):
                return _reader(GRAMMARS[name].read)
            case ChoiceNode(options):
                return _chooser(options)
            case DescribedNode(inner, _):
                return self.builder(inner)
            case ReferenceNode(name):
                return self._reference(name)
            case ModelNode(model, _):
                return _model_builder(model)
            case ArrayNode():
                return _array_builder(self.builder(node.item), node.kind)
            case TupleNode(items):
                return _tuple_builder([self.builder(item) for item in items])
            case MapNode():
                return _map_builder(self.builder(node.key), self.builder(node.value))
            case UnionNode(members):
                return self._union(members)
            case _:
                return self._object(node)

    def _reference(self, name: str) -> Build:
        if name in self._targets:
            known = self._targets[name]
            # Still being compiled when the type is recursive: look it up when it is used.
            return known[0] if known else lambda value: known[0](value)  # noqa: PLW0108 - empty yet
        self._targets[name] = target = list[Build]()
        target.append(self.builder(self._definitions[name]))
        return target[0]

    def _union(self, members: tuple[Node, ...]) -> Build:
        builders = [self.builder(member) for member in members]
        if all(build is same for build in builders):
            return same
        choices = [
            (self._accepts(member), build) for member, build in zip(members, builders, strict=True)
        ]

        def build_union(value: object) -> object:
            # One of them accepts: the value passed the check of the union.
            return next(build for accepts, build in choices if accepts(value))(value)

        return build_union

    def _object(self, node: ObjectNode) -> Build:
        parts = {member.name: self.builder(member.node) for member in node.properties}
        constructor = node.constructor
        if constructor is None:
            if all(build is same for build in parts.values()):
                return same
            return lambda value: _built_members(value, parts)

        def build_object(value: object) -> object:
            arguments = _built_members(value, parts)
            try:
                return constructor(**arguments)
            except Exception as error:
                raise RefusedError(refusal_of(error)) from error

        return build_object


def runs_user_code(node: Node) -> bool:
    """Whether building a node itself can run code of the user's."""
    match node:
        case ModelNode():
            return True
        case ObjectNode():
            return node.runs_user_code
        case ArrayNode():
            # Hashing an object may run its own `__hash__`.
            return node.kind in ("set", "frozenset") and _holds_objects(node.item)
        case _:
            return False


def _holds_objects(node: Node) -> bool:
    """Whether a class is within: all that are stand among the definitions."""
    return isinstance(node, ReferenceNode) or any(map(_holds_objects, children_of(node)))


def _text(value: object) -> object:
    return JsonText(dump_json(value))


_VIEWS: dict[str, Build] = {"plain": same, "frozen": frozen_json, "text": _text}


def _integer(value: object) -> object:
    return int(value) if isinstance(value, float) else value


def _number(value: object) -> object:
    """A float; an int that no float equals stays what it is, rather than lose digits."""
    if not isinstance(value, int):
        return value
    try:
        number = float(value)
    except OverflowError:
        return value
    return number if number == value else value


def _reader(read: Callable[[str], object]) -> Build:
    return lambda value: read(value) if isinstance(value, str) else value


def _chooser(options: tuple[tuple[JsonText, object], ...]) -> Build:
    members = {key_of(text.value): member for text, member in options}
    if all(type(member) is str for member in members.values()):
        return same
    return lambda value: members[key_of(value)]


def _model_builder(model: type[object]) -> Build:
    validate: Callable[[str], object] = getattr(model, "model_validate_json")  # noqa: B009 - not a known attribute of type

    def build_model(value: object) -> object:
        try:
            return validate(dump_json(value))
        except Exception as error:
            raise RefusedError(refusal_of(error)) from error

    return build_model


_COLLECTIONS: dict[ArrayKind, Callable[[list[object]], object]] = {
    "list": same,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


def _array_builder(build: Build, kind: ArrayKind) -> Build:
    into = _COLLECTIONS[kind]
    if build is same and into is same:
        return same

    def build_array(value: object) -> object:
        items = _built_items(value, build)
        try:
            return into(items)
        except Exception as error:
            raise RefusedError(refusal_of(error)) from error

    return build_array


def _built_items(value: object, build: Build) -> list[object]:
    items = items_of(value)
    if build is same:
        return items
    built: list[object] = []
    try:
        for item in items:
            built.append(build(item))  # noqa: PERF401 - its length tells where the fault is
    except RefusedError as refused:
        refused.path.append(len(built))
        raise
    return built


def _tuple_builder(builders: list[Build]) -> Build:
    def build_tuple(value: object) -> object:
        built: list[object] = []
        try:
            for build, item in zip(builders, items_of(value), strict=True):
                built.append(build(item))
        except RefusedError as refused:
            refused.path.append(len(built))
            raise
        return tuple(built)

    return build_tuple


def _map_builder(key: Build, item: Build) -> Build:
    if key is same and item is same:
        return same

    def build_map(value: object) -> object:
        built: dict[object, object] = {}
        name = ""
        try:
            for name, member in members_of(value).items():
                built[key(name)] = item(member)
        except RefusedError as refused:
            refused.path.append(name)
            raise
        return built

    return build_map


def _built_members(value: object, parts: Mapping[str, Build]) -> dict[str, object]:
    built: dict[str, object] = {}
    name = ""
    try:
        for name, member in members_of(value).items():
            built[name] = parts[name](member)
    except RefusedError as refused:
        refused.path.append(name)
        raise
    return built
