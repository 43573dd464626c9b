from typing import TypeAlias, final
from attrs import frozen
from stepfold.loop import RetryPolicy
from stepfold.pipeline._works import Work

Own: TypeAlias = tuple[object, ...]

@final
@frozen(order=False, eq=False)
class Given:
    form: object

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Leaf:
    work: Work

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Caught:
    work: Work
    recovers: bool

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class CaughtBy:
    body: "Node"

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Chain:
    links: "tuple[Node, ...]" = ()

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Choice:
    chooser: Work
    labels: tuple[str, ...]
    arms: "tuple[Node, ...]"

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Loop:
    test: Work
    ends: bool
    body: "Node"
    at_most: int

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Improving:
    evaluate: "Node"
    improve: "Node"
    at_most: int

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Retry:
    body: "Node"
    attempts: int
    policy: RetryPolicy | None

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Timed:
    body: "Node"
    seconds: float

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Fallback:
    body: "Node"
    other: "Node"

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Together:
    arms: "tuple[Node, ...]"
    is_race: bool = False

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Each:
    body: "Node"
    limit: int
    settles: bool

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Counted:
    at_most: int

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Sleep:
    seconds: float

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Awaited:
    name: str
    form: object
    ask: Work
    keeps: bool

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Titled:
    title: str
    body: "Node"

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

@final
@frozen(order=False, eq=False)
class Repeatable:
    body: "Node"

    def own(self) -> Own: ...
    def inner(self) -> "tuple[Node, ...]": ...

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
