"""JSON Schema (draft 2020-12) of a tree of nodes, with keywords in a fixed order.

    $ref  type  enum  format/contentEncoding  description  bounds  items…  properties
    required  additionalProperties  anyOf  default  $defs

A class is written out where it is used; it moves to `$defs` when it is used twice or recursive.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from stepfold.schema._grammars import GRAMMARS
from stepfold.schema._kinds import members_of
from stepfold.schema._nodes import (
    AnyNode,
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
    children_of,
)
from stepfold.values._json import JsonText

Definitions: TypeAlias = Mapping[str, Node]
Written: TypeAlias = dict[str, object]

_TYPE_NAMES: dict[type[object], str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
}


class SchemaWriter:
    """Writes the schemas of one form; `written` of a part refers to `$defs` of the whole."""

    def __init__(
        self, root: Node, definitions: Definitions, foreign: Mapping[str, JsonText]
    ) -> None:
        self._root: Node = root
        self._definitions: Definitions = definitions
        self._foreign: Mapping[str, JsonText] = foreign
        self._shared: frozenset[str] = _shared(root, definitions)

    def document(self) -> Written:
        """The schema of the root, with the definitions it needs."""
        root = self._root
        if isinstance(root, ReferenceNode):
            root = self._definitions[root.name]  # written out, since providers want an object here
        return self.written(root) | self.definitions()

    def definitions(self) -> Written:
        """The `$defs` keyword, or nothing."""
        shared: Written = {
            name: self.written(node)
            for name, node in self._definitions.items()
            if name in self._shared
        }
        shared.update({name: thawed(text) for name, text in self._foreign.items()})
        return {"$defs": shared} if shared else {}

    def written(self, node: Node) -> Written:
        """The schema of one node."""
        match node:
            case AnyNode():
                return {"type": "object"} if node.objects_only else {}
            case NullNode():
                return {"type": "null"}
            case BooleanNode():
                return {"type": "boolean"}
            case NumberNode():
                return _number(node)
            case StringNode():
                return _string(node)
            case GrammarNode(name):
                grammar = GRAMMARS[name]
                written: Written = {"type": "string"}
                if grammar.keyword is not None:
                    written[grammar.keyword[0]] = grammar.keyword[1]
                return written | {"pattern": grammar.pattern}
            case ChoiceNode():
                return _choice(node)
            case ReferenceNode(name):
                if name in self._shared:
                    return {"$ref": f"#/$defs/{name}"}
                return self.written(self._definitions[name])
            case ModelNode():
                return thawed(node.schema)
            case DescribedNode(inner, description):
                return _described(self.written(inner), description)
            case UnionNode(members):
                return {"anyOf": [self.written(member) for member in members]}
            case ArrayNode() | TupleNode():
                return self._array(node)
            case MapNode():
                return self._map(node)
            case _:
                return self._object(node)

    def _array(self, node: ArrayNode | TupleNode) -> Written:
        if isinstance(node, TupleNode):
            prefix = {"prefixItems": [self.written(item) for item in node.items]}
            size = len(node.items)
            return {"type": "array", **(prefix if size else {}), "minItems": size, "maxItems": size}
        unique = {"uniqueItems": True} if node.kind in ("set", "frozenset") else {}
        return (
            {"type": "array", "items": self.written(node.item)}
            | _sizes(node.min_length, node.max_length, "Items")
            | unique
        )

    def _map(self, node: MapNode) -> Written:
        keys = self.written(node.key)
        names = {} if keys == {"type": "string"} else {"propertyNames": keys}
        return (
            {"type": "object", "additionalProperties": self.written(node.value)}
            | names
            | _sizes(node.min_length, node.max_length, "Properties")
        )

    def _object(self, node: ObjectNode) -> Written:
        written: Written = {"type": "object"}
        if node.description:
            written["description"] = node.description
        written["properties"] = {member.name: self._property(member) for member in node.properties}
        required = [member.name for member in node.properties if member.is_required]
        if required:
            written["required"] = required
        return written | {"additionalProperties": False}

    def _property(self, member: Property) -> Written:
        written = self.written(member.node)
        if member.description:
            written = _described(written, member.description)
        if member.default is not None:
            written = written | {"default": _plain(member.default)}
        return written


def _number(node: NumberNode) -> Written:
    bounds = {
        "minimum": node.ge,
        "exclusiveMinimum": node.gt,
        "maximum": node.le,
        "exclusiveMaximum": node.lt,
        "multipleOf": node.multiple_of,
    }
    written: Written = {"type": "integer" if node.is_integer else "number"}
    return written | {keyword: bound for keyword, bound in bounds.items() if bound is not None}


def _string(node: StringNode) -> Written:
    written: Written = {"type": "string"} | _sizes(node.min_length, node.max_length, "Length")
    if node.patterns:
        written["pattern"] = node.patterns[0]
    if len(node.patterns) > 1:
        written["allOf"] = [{"pattern": expression} for expression in node.patterns[1:]]
    return written


def _choice(node: ChoiceNode) -> Written:
    values = [_plain(text) for text, _ in node.options]
    types = list(dict.fromkeys(_TYPE_NAMES[type(value)] for value in values))
    written: Written = {"type": types[0]} if len(types) == 1 else {}
    written["enum"] = values
    return _described(written, node.description) if node.description else written


def _described(written: Written, description: str) -> Written:
    rest = dict(written)
    rest.pop("description", None)
    first: Written = {key: rest.pop(key) for key in ("$ref", "type") if key in rest}
    return {**first, "description": description, **rest}


def _sizes(least: int | None, most: int | None, noun: str) -> Written:
    bounds: dict[str, int | None] = {f"min{noun}": least, f"max{noun}": most}
    return {keyword: bound for keyword, bound in bounds.items() if bound is not None}


def _plain(text: JsonText) -> object:
    plain: object = json.loads(text.text)
    return plain


def thawed(text: JsonText) -> Written:
    """A schema object as plain dicts and lists."""
    return members_of(_plain(text))


def _shared(root: Node, definitions: Definitions) -> frozenset[str]:
    """Names that are used twice, or within themselves."""
    uses = Counter[str]()
    below: dict[str, set[str]] = {}

    def count(node: Node, owner: str) -> None:
        if isinstance(node, ReferenceNode):
            uses[node.name] += 1
            below.setdefault(owner, set()).add(node.name)
        for child in children_of(node):
            count(child, owner)

    count(root, "")
    for name, node in definitions.items():
        count(node, name)

    def is_recursive(name: str) -> bool:
        seen: set[str] = set()
        ahead = [name]
        while ahead:
            for further in below.get(ahead.pop(), ()):
                if further == name:
                    return True
                if further not in seen:
                    seen.add(further)
                    ahead.append(further)
        return False

    return frozenset(name for name in definitions if uses[name] > 1 or is_recursive(name))
