"""Bounds put on nodes, and questions about them."""

from collections.abc import Mapping
from typing import TypeVar

import attrs

from stepfold.schema._constraints import Constraint
from stepfold.schema._nodes import (
    AnyNode,
    ArrayNode,
    ChoiceNode,
    DescribedNode,
    GrammarNode,
    MapNode,
    ModelNode,
    Node,
    NumberNode,
    ObjectNode,
    ReferenceNode,
    StringNode,
    UnionNode,
    children_of,
)

N = TypeVar("N", bound=float)

_NUMERIC = frozenset({"ge", "gt", "le", "lt", "multiple_of"})
_SIZED = frozenset({"min_length", "max_length"})


def constrained(node: Node, constraint: Constraint) -> tuple[Node, frozenset[str]]:
    """Narrow a node by the bounds it can carry, and name these; a union narrows its members."""
    match node:
        case NumberNode():
            if constraint.multiple_of is not None and node.multiple_of is not None:
                return node, frozenset()  # two of them have no single keyword
            return attrs.evolve(
                node,
                ge=_larger(node.ge, constraint.ge),
                gt=_larger(node.gt, constraint.gt),
                le=_smaller(node.le, constraint.le),
                lt=_smaller(node.lt, constraint.lt),
                multiple_of=constraint.multiple_of or node.multiple_of,
            ), _NUMERIC
        case StringNode():
            patterns = () if constraint.pattern is None else (constraint.pattern,)
            return attrs.evolve(
                node,
                min_length=_larger(node.min_length, constraint.min_length),
                max_length=_smaller(node.max_length, constraint.max_length),
                patterns=node.patterns + patterns,
            ), _SIZED | {"pattern"}
        case ArrayNode() | MapNode():
            return attrs.evolve(
                node,
                min_length=_larger(node.min_length, constraint.min_length),
                max_length=_smaller(node.max_length, constraint.max_length),
            ), _SIZED
        case DescribedNode(inner, description):
            narrowed, used = constrained(inner, constraint)
            return DescribedNode(narrowed, description), used
        case UnionNode(members):
            parts = [constrained(member, constraint) for member in members]
            used = frozenset[str]().union(*(part_used for _, part_used in parts))
            return UnionNode(tuple(part for part, _ in parts)), used
        case _:
            return node, frozenset()


def _larger(one: N | None, other: N | None) -> N | None:
    return other if one is None else one if other is None else max(one, other)


def _smaller(one: N | None, other: N | None) -> N | None:
    return other if one is None else one if other is None else min(one, other)


def is_hashable(node: Node, definitions: Mapping[str, Node]) -> bool:
    """Whether what a node binds to can be hashed, and so be an item of a set."""
    seen: set[str] = set()

    def check(part: Node) -> bool:
        match part:
            case ReferenceNode(name):
                if name in seen:
                    return True
                seen.add(name)
                # Not there yet when a class is in a set within itself.
                return name not in definitions or check(definitions[name])
            case ObjectNode():
                made = part.constructor
                if made is None or _refuses_hash(made):
                    return False
            case AnyNode():
                return part.view != "plain"
            case MapNode():
                return False
            case ArrayNode() if part.kind in ("list", "set"):
                return False
            case ModelNode():
                return not _refuses_hash(part.model)
            case _:
                pass
        return all(map(check, children_of(part)))

    return check(node)


def _refuses_hash(cls: type[object]) -> bool:
    return getattr(cls, "__hash__", None) is None


def is_textual(node: Node) -> bool:
    """Whether every JSON value of a node is a string, so that it can be a key."""
    match node:
        case StringNode() | GrammarNode():
            return True
        case ChoiceNode(options):
            return all(isinstance(text.value, str) for text, _ in options)
        case DescribedNode(inner, _):
            return is_textual(inner)
        case UnionNode(members):
            return all(map(is_textual, members))
        case _:
            return False
