"""`Stage`: a pipeline as a typed value, and the combinators that make one of others.

Rules. A stage is a thin typed wrapper over a tree; what its types promise is checked by a type
checker, and what they cannot say is checked when it is built. No method has more than one error
type of its own to find out, and none takes several stages at once, since then both checkers give
exact unions: several stages are put together by operators (`&` for fans, `|` for cases).
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Generic, Never, TypeVarTuple, cast, final

from typing_extensions import TypeVar, override

from stepfold.loop import RetryPolicy
from stepfold.pipeline._boundary import boundaries_of
from stepfold.pipeline._cases import FirstFitting, Kind, require_reachable, shown_kind
from stepfold.pipeline._checks import (
    require_bound,
    require_made,
    require_name,
    require_seconds,
    require_stage,
)
from stepfold.pipeline._graph import forms_of, mermaid_of, tree_of
from stepfold.pipeline._nodes import (
    Caught,
    CaughtBy,
    Choice,
    Each,
    Fallback,
    Improving,
    Leaf,
    Loop,
    Node,
    Repeatable,
    Retry,
    Timed,
    Titled,
    Together,
    in_sequence,
    tokens,
    with_catch,
)
from stepfold.pipeline._results import BoundReached, Revision, TimedOut, Verdict
from stepfold.pipeline._runs import Runs
from stepfold.pipeline._works import (
    SPREAD,
    AnyFunction,
    Guarded,
    Narrowed,
    Reading,
    Tested,
    Work,
    name_of,
    plain,
    work_of,
)
from stepfold.schema import Form, schema_of
from stepfold.values import JsonText, Outcome

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
T = TypeVar("T")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
A2 = TypeVar("A2")
S = TypeVar("S", default=Never)
X = TypeVar("X", default=Never)
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
_Cs = TypeVarTuple("_Cs")


@final
class Stage(Runs[A_contra, B_co, E_co]):
    """A pipeline: it takes an `A` and gives a `B`, or a failure that is an `E`.

    Made by `stage`, `pure`, `fallible`, `identity` and `given`, by an agent's `stage`, and by the
    methods here, each of which gives a new stage. Two stages are equal if they are wired alike.
    Nothing runs before `run`. An exception in a stage is a defect, and never becomes an `E`.
    """

    @cached_property
    def _tokens(self) -> tuple[object, ...]:
        return tokens(self.node)

    @override
    def __eq__(self, other: object) -> bool:
        return self._tokens == other._tokens if isinstance(other, Stage) else NotImplemented

    @override
    def __hash__(self) -> int:
        return hash(self._tokens)

    @override
    def __repr__(self) -> str:
        return f"<Stage of {len(self._tokens)} parts>"

    def tree(self) -> str:
        """Draw it as a tree: a line for each stage, those within it below."""
        return tree_of(self.node)

    def mermaid(self) -> str:
        """Draw it as a flow chart in Mermaid; dotted arrows are the ways of failures."""
        return mermaid_of(self.node)

    def schemas(self) -> Mapping[str, JsonText | None]:
        """The JSON Schemas of what it is `given`, of its `value`, and of each `input NAME`.

        `None` is where no annotation tells the type, or it has no JSON form.
        """
        return {
            name: None if form is None else schema_of(form) for name, form in self.forms().items()
        }

    def forms(self) -> Mapping[str, Form | None]:
        """The forms behind `schemas`, by the same names: they check JSON and bind it to the types.

        `None` is where no annotation tells the type, or it has no JSON form.
        """
        return forms_of(self.node)

    # --- one after the other ------------------------------------------------------------------

    def then(self, following: "Stage[B_co, C, F]", /) -> "Stage[A_contra, C, E_co | F]":
        """Give the value to another stage."""
        require_stage("then", following, Stage)
        return Stage(in_sequence(self.node, following.node))

    def __rshift__(self, following: "Stage[B_co, C, F]", /) -> "Stage[A_contra, C, E_co | F]":
        """As `then`, between named stages: `fetch >> parse`."""
        require_stage(">>", following, Stage)
        return Stage(in_sequence(self.node, following.node))

    def map(self, function: Callable[[B_co], C], /) -> "Stage[A_contra, C, E_co]":
        """Change the value by a plain function."""
        return Stage(self._before("map", function, Reading.VALUE))

    def bind(self, function: Callable[[B_co], Outcome[S, X]], /) -> "Stage[A_contra, S, E_co | X]":
        """Go on as a function says: with the value of a `Success`, or with a failure."""
        return Stage(self._before("bind", function, Reading.OUTCOME))

    def tap(self, observer: Callable[[B_co], object], /) -> "Stage[A_contra, B_co, E_co]":
        """Show the value to a function, sync or async; what that returns is dropped.

        What it raises is a defect, as anywhere else.
        """
        work = work_of("tap", cast("AnyFunction", observer), Reading.IGNORED, "tap")
        return Stage(in_sequence(self.node, Leaf(work)))

    def guard(
        self, holds: Callable[[B_co], bool], /, otherwise: Callable[[B_co], F]
    ) -> "Stage[A_contra, B_co, E_co | F]":
        """Go on if something holds of the value; otherwise fail with what a function gives."""
        guarded = Guarded(
            plain("guard", cast("AnyFunction", holds), "guard"),
            plain("guard", cast("AnyFunction", otherwise), "guard"),
        )
        work = Work(name_of(holds, "guard"), guarded, Reading.OUTCOME, is_plain=True)
        return Stage(in_sequence(self.node, Leaf(work)))

    def narrow(
        self, kind: type[C], /, otherwise: Callable[[B_co], F]
    ) -> "Stage[A_contra, C, E_co | F]":
        """Go on if the value is of a class; otherwise fail with what a function gives."""
        require_made("narrow", kind, type, "a class")
        narrowed = Narrowed(kind, plain("narrow", cast("AnyFunction", otherwise), "narrow"))
        work = Work(f"narrow {kind.__name__}", narrowed, Reading.OUTCOME, is_plain=True, gives=kind)
        return Stage(in_sequence(self.node, Leaf(work)))

    def _before(self, where: str, function: object, reading: Reading) -> Node:
        """This tree, and a plain function after it."""
        called = plain(where, cast("AnyFunction", function), where)
        return in_sequence(self.node, Leaf(work_of(where, called, reading, where)))

    # --- failures -----------------------------------------------------------------------------

    def map_failure(self, function: Callable[[E_co], F], /) -> "Stage[A_contra, B_co, F]":
        """Change the error of a failure by a plain function."""
        return Stage(with_catch(self.node, self._catching("map_failure", function, False)))  # noqa: FBT003

    def recover(self, function: Callable[[E_co], C], /) -> "Stage[A_contra, B_co | C, Never]":
        """Make a value of any failure by a plain function."""
        return Stage(with_catch(self.node, self._catching("recover", function, True)))  # noqa: FBT003

    def _catching(self, where: str, function: object, recovers: bool) -> Caught:  # noqa: FBT001
        called = plain(where, cast("AnyFunction", function), where)
        return Caught(work_of(where, called, Reading.VALUE, where), recovers)

    def recover_with(self, following: "Stage[E_co, C, F]", /) -> "Stage[A_contra, B_co | C, F]":
        """Give the error of a failure to another stage."""
        require_stage("recover_with", following, Stage)
        return Stage(with_catch(self.node, CaughtBy(following.node)))

    def fallback(self: "Stage[A, B, E]", other: "Stage[A, C, F]", /) -> "Stage[A, B | C, F]":
        """Give the same input to another stage if this one fails."""
        require_stage("fallback", other, Stage)
        return Stage(Fallback(self.node, other.node))

    def retry(self, attempts: int | RetryPolicy, /) -> "Stage[A_contra, B_co, E_co]":
        """Begin again with the same input while it fails: so many attempts in all.

        With a policy there are pauses between the attempts, and one attempt more than it has
        retries. The failure of the last attempt is that of the whole. What raises is not retried.
        """
        if isinstance(attempts, RetryPolicy):
            return Stage(Retry(self.node, attempts.max_retries + 1, attempts))
        require_bound("retry, attempts", attempts)
        return Stage(Retry(self.node, attempts, None))

    def timeout(self, seconds: float, /) -> "Stage[A_contra, B_co, E_co | TimedOut]":
        """Fail if it has not ended in time; what runs then is cancelled, and awaited.

        A stage that is sync cannot be interrupted: what it gives too late is dropped.
        """
        require_seconds("timeout", seconds)
        return Stage(Timed(self.node, seconds))

    # --- side by side -------------------------------------------------------------------------

    def branch(self, cases: "Cases[B_co, C, F]", /) -> "Stage[A_contra, C, E_co | F]":
        """Go on with the stage of the case that the value is of; no case may be missing."""
        return self.then(branch(cases))

    def parallel(self, fan: "Fan[B_co, F, *_Cs]", /) -> "Stage[A_contra, tuple[*_Cs], E_co | F]":
        """Give the value to several stages at once; see `parallel`."""
        return self.then(parallel(fan))

    def map_each(
        self: "Stage[A, Iterable[T], E]", each: "Stage[T, C, F]", /, *, limit: int
    ) -> "Stage[A, tuple[C, ...], E | F]":
        """Give each item to a stage, at most `limit` at once; results are in the order of items.

        The first failure is that of the whole: no more items are begun, and those that run are
        cancelled and awaited.
        """
        require_stage("map_each", each, Stage)
        return Stage(self._each(each.node, limit, settles=False))

    def settle_each(
        self: "Stage[A, Iterable[T], E]", each: "Stage[T, C, F]", /, *, limit: int
    ) -> "Stage[A, tuple[Outcome[C, F], ...], E]":
        """As `map_each`, but gives every outcome: failures stop nothing."""
        require_stage("settle_each", each, Stage)
        return Stage(self._each(each.node, limit, settles=True))

    def _each(self, body: Node, limit: int, *, settles: bool) -> Node:
        require_bound("map_each, limit", limit)
        spread = Leaf(Work("items", SPREAD, Reading.VALUE, is_plain=True))
        return in_sequence(in_sequence(self.node, spread), Each(body, limit, settles))

    def race(self: "Stage[A, B, E]", other: "Stage[A, C, F]", /) -> "Stage[A, B | C, E | F]":
        """Give the same input to both: the first success wins, and the other is cancelled.

        The loser has ended before anything goes on. If both fail, the failure is that of the
        first one listed.
        """
        require_stage("race", other, Stage)
        arms = (
            node.arms if isinstance(node, Together) and node.is_race else (node,)
            for node in (self.node, other.node)
        )
        return Stage(Together(tuple(arm for found in arms for arm in found), is_race=True))

    def __and__(self: "Stage[A, B, E]", other: "Stage[A, C, F]", /) -> "Fan[A, E | F, B, C]":
        """Put two stages side by side: `parallel(a & b & c)`; the narrowest input comes first."""
        require_stage("&", other, Stage)
        return Fan((self.node, other.node))

    # --- again and again ----------------------------------------------------------------------

    def loop_until(
        self: "Stage[A, B, E]",
        body: "Stage[B, B, F]",
        done: Callable[[B], bool],
        /,
        *,
        at_most: int,
    ) -> "Stage[A, B, E | F | BoundReached[B]]":
        """Give the value to a stage again and again until something holds of it.

        It is looked at before each round, so there may be none; after `at_most` rounds in vain
        it fails with `BoundReached`.
        """
        require_stage("loop_until", body, Stage)
        return Stage(self._loop("loop_until", body.node, done, at_most, ends=True))

    def loop_while(
        self: "Stage[A, B, E]",
        body: "Stage[B, B, F]",
        holds: Callable[[B], bool],
        /,
        *,
        at_most: int,
    ) -> "Stage[A, B, E | F | BoundReached[B]]":
        """As `loop_until`, as long as something holds of the value."""
        require_stage("loop_while", body, Stage)
        return Stage(self._loop("loop_while", body.node, holds, at_most, ends=False))

    def _loop(self, where: str, body: Node, test: object, at_most: int, *, ends: bool) -> Node:
        require_bound(f"{where}, at_most", at_most)
        holds = plain(where, cast("AnyFunction", test), where)
        work = Work(name_of(holds, where), Tested(holds), Reading.CHOICE, is_plain=True)
        return in_sequence(self.node, Loop(work, ends, body, at_most))

    def improve_until_accepted(
        self: "Stage[A, B, E]",
        evaluate: "Stage[B, Verdict[D], F]",
        improve: "Stage[Revision[B, D], B, G]",
        /,
        *,
        at_most: int,
    ) -> "Stage[A, B, E | F | G | BoundReached[B]]":
        """Have the value evaluated, and improved by the feedback, until it is accepted.

        After `at_most` improvements the draft is evaluated once more; if it is not accepted
        then, this fails with `BoundReached`, whose `last` is that draft.
        """
        require_stage("improve_until_accepted, evaluate", evaluate, Stage)
        require_stage("improve_until_accepted, improve", improve, Stage)
        require_bound("improve_until_accepted, at_most", at_most)
        improving = Improving(evaluate.node, improve.node, at_most)
        return Stage(in_sequence(self.node, improving))

    def idempotent(self) -> "Stage[A_contra, B_co, E_co]":
        """The same stage, declared to do no harm if what was in flight at a crash runs again."""
        return Stage(Repeatable(self.node))

    def durable(self) -> "Stage[A_contra, B_co, E_co]":
        """The same stage, once it is sure that it can be kept in a journal.

        `start` looks as well; this is for finding out where a pipeline is built.

        Raises:
            UsageError: a boundary has no type with a JSON form, or two inputs have one name.
        """
        boundaries_of(self.node, self.wiring)
        return self

    # --- other --------------------------------------------------------------------------------

    def named(self, name: str, /) -> "Stage[A_contra, B_co, E_co]":
        """The same stage under a name: what is within it is shown as `name/…`."""
        require_name("named", name)
        return Stage(Titled(name, self.node))


@final
class Fan(Generic[A_contra, E_co, *_Cs]):
    """Stages side by side, which `parallel` makes a stage of: `parallel(a & b & c)`."""

    def __init__(self, arms: tuple[Node, ...]) -> None:
        self._arms: tuple[Node, ...] = arms

    @property
    def node(self) -> Node:
        """The tree of all of them side by side."""
        return Together(self._arms)

    def __and__(self: "Fan[A, E, *_Cs]", other: Stage[A, C, F], /) -> "Fan[A, E | F, *_Cs, C]":
        """Put one more stage beside the others."""
        require_stage("&", other, Stage)
        return Fan((*self._arms, other.node))


def parallel(fan: Fan[A, E, *_Cs], /) -> Stage[A, tuple[*_Cs], E]:
    """Give one input to several stages at once: `parallel(translate & count)`.

    The result is a tuple of their values, in the order of the stages. The first failure is that
    of the whole: those that still run are cancelled, and awaited.
    """
    require_made("parallel", fan, Fan, "stages joined by &")
    return Stage(fan.node)


def parallel_all(stages: Iterable[Stage[A, B, E]], /) -> Stage[A, tuple[B, ...], E]:
    """As `parallel`, for any number of stages of one kind."""
    found = tuple(stages)
    for one in found:
        require_stage("parallel_all", one, Stage)
    return Stage(Together(tuple(one.node for one in found)))


@final
class Cases(Generic[T, B_co, E_co]):
    """What happens with a value of each kind: `case(A).then(x) | case(B).then(y)`."""

    def __init__(self, forms: tuple[tuple[Kind, ...], ...], arms: tuple[Node, ...]) -> None:
        self._forms: tuple[tuple[Kind, ...], ...] = forms
        self._arms: tuple[Node, ...] = arms

    @property
    def node(self) -> Node:
        """The tree of all cases, and what chooses between them."""
        labels = tuple(" | ".join(map(shown_kind, kinds)) for kinds in self._forms)
        chooser = Work("branch", FirstFitting(self._forms), Reading.CHOICE, is_plain=True)
        return Choice(chooser, labels, self._arms)

    def __or__(self, other: "Cases[A2, C, F]", /) -> "Cases[T | A2, B_co | C, E_co | F]":
        """Both cases; where both fit, the one before is taken."""
        require_made("|", other, Cases, "another case, case(…).then(…)")
        require_reachable(self._forms, other._forms)
        return Cases((*self._forms, *other._forms), (*self._arms, *other._arms))


def branch(cases: Cases[T, B, E], /) -> Stage[T, B, E]:
    """Go on with the stage of the case that a value is of: `branch(case(A).then(x) | …)`."""
    require_made("branch", cases, Cases, "case(…).then(…) | …")
    return Stage(cases.node)
