"""The tree that a Python type becomes: what its JSON looks like and what it binds to.

A node holds classes, never instances or functions of the user's; a class that is used within
another is a `ReferenceNode` into the table of definitions, so that recursive types are finite.
"""

from typing import Literal, TypeAlias, Union, final

from attrs import frozen

from stepfold.schema._grammars import GrammarName
from stepfold.values._json import JsonText

AnyView: TypeAlias = Literal["plain", "frozen", "text"]
ArrayKind: TypeAlias = Literal["list", "tuple", "set", "frozenset"]


@final
@frozen(order=False)
class AnyNode:
    """Any JSON; `view` says whether it binds to plain, frozen or textual JSON."""

    view: AnyView = "plain"
    objects_only: bool = False


@final
@frozen(order=False)
class NullNode:
    """None."""


@final
@frozen(order=False)
class BooleanNode:
    """True and False."""


@final
@frozen(order=False, kw_only=True)
class NumberNode:
    """An int or a float with bounds."""

    is_integer: bool
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    multiple_of: float | None = None


@final
@frozen(order=False, kw_only=True)
class StringNode:
    """A str with bounds; every one of `patterns` is found in it."""

    min_length: int | None = None
    max_length: int | None = None
    patterns: tuple[str, ...] = ()


@final
@frozen(order=False)
class GrammarNode:
    """A type that travels as a string with a grammar of its own."""

    name: GrammarName


@final
@frozen(order=False)
class ChoiceNode:
    """Members of a `Literal` or an enum, in order, each with its JSON scalar."""

    options: tuple[tuple[JsonText, object], ...]
    description: str = ""


@final
@frozen(order=False, kw_only=True)
class ArrayNode:
    """A list, tuple, set or frozenset of one kind of item."""

    item: "Node"
    kind: ArrayKind
    min_length: int | None = None
    max_length: int | None = None


@final
@frozen(order=False)
class TupleNode:
    """A tuple of a fixed number of items."""

    items: tuple["Node", ...]


@final
@frozen(order=False, kw_only=True)
class MapNode:
    """A dict; its keys are something that travels as a string."""

    key: "Node"
    value: "Node"
    min_length: int | None = None
    max_length: int | None = None


@final
@frozen(order=False, kw_only=True)
class Property:
    """One property of an object: a field of a class, or a parameter.

    `default` is the JSON of the default where it has one; the default itself is applied by the
    constructor that `bind` calls.
    """

    name: str
    node: "Node"
    is_required: bool
    default: JsonText | None = None
    description: str = ""


@final
@frozen(order=False, kw_only=True)
class ObjectNode:
    """An object with known properties; `constructor` makes it, or it stays a dict."""

    properties: tuple[Property, ...]
    constructor: type[object] | None = None
    description: str = ""
    runs_user_code: bool = False


@final
@frozen(order=False)
class UnionNode:
    """The first member that accepts a value binds it."""

    members: tuple["Node", ...]


@final
@frozen(order=False)
class ReferenceNode:
    """A definition by its name."""

    name: str


@final
@frozen(order=False)
class ModelNode:
    """A pydantic model; `schema` is its own, without `$defs`, which are hoisted."""

    model: type[object]
    schema: JsonText


@final
@frozen(order=False)
class DescribedNode:
    """A node with words for the model."""

    node: "Node"
    description: str


Node: TypeAlias = Union[  # noqa: UP007 - a quoted member needs typing.Union at run time
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


def children_of(node: Node) -> tuple[Node, ...]:
    """The nodes directly below a node."""
    match node:
        case ArrayNode():
            return (node.item,)
        case TupleNode(items):
            return items
        case MapNode():
            return (node.key, node.value)
        case ObjectNode():
            return tuple(member.node for member in node.properties)
        case UnionNode(members):
            return members
        case DescribedNode(inner, _):
            return (inner,)
        case _:
            return ()
