from typing import Literal, TypeAlias, Union, final
from attrs import frozen
from stepfold.schema._grammars import GrammarName
from stepfold.values._json import JsonText

AnyView: TypeAlias = Literal["plain", "frozen", "text"]
ArrayKind: TypeAlias = Literal["list", "tuple", "set", "frozenset"]

@final
@frozen(order=False)
class AnyNode:
    view: AnyView = "plain"
    objects_only: bool = False

@final
@frozen(order=False)
class NullNode: ...

@final
@frozen(order=False)
class BooleanNode: ...

@final
@frozen(order=False, kw_only=True)
class NumberNode:
    is_integer: bool
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    multiple_of: float | None = None

@final
@frozen(order=False, kw_only=True)
class StringNode:
    min_length: int | None = None
    max_length: int | None = None
    patterns: tuple[str, ...] = ()

@final
@frozen(order=False)
class GrammarNode:
    name: GrammarName

@final
@frozen(order=False)
class ChoiceNode:
    options: tuple[tuple[JsonText, object], ...]
    description: str = ""

@final
@frozen(order=False, kw_only=True)
class ArrayNode:
    item: "Node"
    kind: ArrayKind
    min_length: int | None = None
    max_length: int | None = None

@final
@frozen(order=False)
class TupleNode:
    items: tuple["Node", ...]

@final
@frozen(order=False, kw_only=True)
class MapNode:
    key: "Node"
    value: "Node"
    min_length: int | None = None
    max_length: int | None = None

@final
@frozen(order=False, kw_only=True)
class Property:
    name: str
    node: "Node"
    is_required: bool
    default: JsonText | None = None
    description: str = ""

@final
@frozen(order=False, kw_only=True)
class ObjectNode:
    properties: tuple[Property, ...]
    constructor: type[object] | None = None
    description: str = ""
    runs_user_code: bool = False

@final
@frozen(order=False)
class UnionNode:
    members: tuple["Node", ...]

@final
@frozen(order=False)
class ReferenceNode:
    name: str

@final
@frozen(order=False)
class ModelNode:
    model: type[object]
    schema: JsonText

@final
@frozen(order=False)
class DescribedNode:
    node: "Node"
    description: str

Node: TypeAlias = Union[
    AnyNode,
    NullNode,
    BooleanNode,
    NumberNode,
    StringNode,
    GrammarNode,
    ChoiceNode,
    ArrayNode,
    TupleNode,
    MapNode,
    ObjectNode,
    UnionNode,
    ReferenceNode,
    ModelNode,
    DescribedNode,
]
