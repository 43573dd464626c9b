"""The tree that a pipeline is: frozen nodes, each with what it runs and the nodes within it.

Rules. Nothing here runs anything. Nodes are compared and hashed through `tokens`, which walks the
tree without recursion, so that no depth is too deep. Composition is flat: `in_sequence` puts the
links of its right side behind those of its left, as long as none of them catches failures, since
what catches failures on the right must not catch those of the left. What may still be flattened
is what follows the last such link. So `then` gives one and the same tree however it is bracketed,
and an empty chain, which is `identity()`, adds nothing.
"""

from collections.abc import Iterator
from typing import TypeAlias, final

from attrs import frozen

from stepfold.loop import RetryPolicy
from stepfold.pipeline._works import Work

Own: TypeAlias = tuple[object, ...]
"""What a node holds beside the nodes within it."""


@final
@frozen(order=False, eq=False)
class Given:
    """Where a pipeline starts: it says what is given, and does nothing."""

    form: object

    def own(self) -> Own:
        """What the node holds."""
        return (self.form,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return ()


@final
@frozen(order=False, eq=False)
class Leaf:
    """A function on the way of successes."""

    work: Work

    def own(self) -> Own:
        """What the node holds."""
        return (self.work,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return ()


@final
@frozen(order=False, eq=False)
class Caught:
    """A function on the way of failures: what it gives is a success, or a failure still."""

    work: Work
    recovers: bool

    def own(self) -> Own:
        """What the node holds."""
        return (self.work, self.recovers)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return ()


@final
@frozen(order=False, eq=False)
class CaughtBy:
    """A stage on the way of failures."""

    body: "Node"

    def own(self) -> Own:
        """What the node holds."""
        return ()

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body,)


@final
@frozen(order=False, eq=False)
class Chain:
    """One link after the other; with none, what is given goes on."""

    links: "tuple[Node, ...]" = ()

    def own(self) -> Own:
        """What the node holds."""
        return ()

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return self.links


@final
@frozen(order=False, eq=False)
class Choice:
    """One of several stages, chosen by the number that the chooser gives."""

    chooser: Work
    labels: tuple[str, ...]
    arms: "tuple[Node, ...]"

    def own(self) -> Own:
        """What the node holds."""
        return (self.chooser, self.labels)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return self.arms


@final
@frozen(order=False, eq=False)
class Loop:
    """A stage again and again, until the test gives `ends`; at most so many rounds."""

    test: Work
    ends: bool
    body: "Node"
    at_most: int

    def own(self) -> Own:
        """What the node holds."""
        return (self.test, self.ends, self.at_most)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body,)


@final
@frozen(order=False, eq=False)
class Improving:
    """A draft evaluated and improved until it is accepted; at most so many improvements."""

    evaluate: "Node"
    improve: "Node"
    at_most: int

    def own(self) -> Own:
        """What the node holds."""
        return (self.at_most,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.evaluate, self.improve)


@final
@frozen(order=False, eq=False)
class Retry:
    """A stage again from its own input while it fails; `policy` says how long to pause between."""

    body: "Node"
    attempts: int
    policy: RetryPolicy | None

    def own(self) -> Own:
        """What the node holds."""
        return (self.attempts, self.policy)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body,)


@final
@frozen(order=False, eq=False)
class Timed:
    """A stage that has to end in so many seconds."""

    body: "Node"
    seconds: float

    def own(self) -> Own:
        """What the node holds."""
        return (self.seconds,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body,)


@final
@frozen(order=False, eq=False)
class Fallback:
    """A stage, and another one for the same input where it fails."""

    body: "Node"
    other: "Node"

    def own(self) -> Own:
        """What the node holds."""
        return ()

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body, self.other)


@final
@frozen(order=False, eq=False)
class Together:
    """Stages side by side for one input: all of them, or the first that succeeds."""

    arms: "tuple[Node, ...]"
    is_race: bool = False

    def own(self) -> Own:
        """What the node holds."""
        return (self.is_race,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return self.arms


@final
@frozen(order=False, eq=False)
class Each:
    """A stage for each of several items, at most `limit` at once; all outcomes, or the values."""

    body: "Node"
    limit: int
    settles: bool

    def own(self) -> Own:
        """What the node holds."""
        return (self.limit, self.settles)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body,)


@final
@frozen(order=False, eq=False)
class Counted:
    """A plan may hold so many tasks at most."""

    at_most: int

    def own(self) -> Own:
        """What the node holds."""
        return (self.at_most,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return ()


@final
@frozen(order=False, eq=False)
class Sleep:
    """Nothing, for so many seconds."""

    seconds: float

    def own(self) -> Own:
        """What the node holds."""
        return (self.seconds,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return ()


@final
@frozen(order=False, eq=False)
class Awaited:
    """An input from a person or another system, asked for by a text; it may keep what was given."""

    name: str
    form: object
    ask: Work
    keeps: bool

    def own(self) -> Own:
        """What the node holds."""
        return (self.name, self.form, self.ask, self.keeps)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return ()


@final
@frozen(order=False, eq=False)
class Titled:
    """A stage under a name: a pipeline within a pipeline."""

    title: str
    body: "Node"

    def own(self) -> Own:
        """What the node holds."""
        return (self.title,)

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body,)


@final
@frozen(order=False, eq=False)
class Repeatable:
    """A stage whose functions may run again where it is not known what became of them."""

    body: "Node"

    def own(self) -> Own:
        """What the node holds."""
        return ()

    def inner(self) -> "tuple[Node, ...]":
        """The nodes within."""
        return (self.body,)


Node: TypeAlias = (
    Given
    | Leaf
    | Caught
    | CaughtBy
    | Chain
    | Choice
    | Loop
    | Improving
    | Retry
    | Timed
    | Fallback
    | Together
    | Each
    | Counted
    | Sleep
    | Awaited
    | Titled
    | Repeatable
)
"""Any node of the tree."""

NOTHING = Chain()


def links_of(node: Node) -> tuple[Node, ...]:
    """The links that a node puts into a chain at its beginning."""
    return node.links if isinstance(node, Chain) else (node,)


def in_sequence(first: Node, following: Node) -> Node:
    """One node after the other, as flat as it may be."""
    left, right = links_of(first), links_of(following)
    if not left:
        return following
    if not right:
        return first
    caught = _last_catch(right) + 1
    if caught:
        right = (Chain(right[:caught]), *right[caught:])
    return Chain(left + right)


def with_catch(first: Node, catch: Caught | CaughtBy) -> Node:
    """A node, and a link that catches its failures, and those of all that is before it."""
    return Chain((*links_of(first), catch))


def _last_catch(links: tuple[Node, ...]) -> int:
    """The place of the last link that catches failures; -1 where there is none."""
    for place in range(len(links) - 1, -1, -1):
        if isinstance(links[place], Caught | CaughtBy):
            return place
    return -1


def walk(node: Node) -> Iterator[Node]:
    """Every node of a tree, each before those within it, in their order."""
    todo = [node]
    while todo:
        found = todo.pop()
        yield found
        todo.extend(reversed(found.inner()))


def tokens(node: Node) -> tuple[object, ...]:
    """A tree in one line: two trees are equal exactly where their tokens are."""
    return tuple((type(found), len(found.inner()), *found.own()) for found in walk(node))
