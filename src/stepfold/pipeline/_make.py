"""How stages are made of functions, and the small ones that need none."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Never, cast, final, overload

from typing_extensions import TypeForm, TypeVar

from stepfold.pipeline._cases import Kind, kinds_of
from stepfold.pipeline._checks import (
    require_bound,
    require_form,
    require_name,
    require_seconds,
    require_stage,
)
from stepfold.pipeline._context import StageContext
from stepfold.pipeline._kept import Rested
from stepfold.pipeline._nodes import (
    NOTHING,
    Awaited,
    Choice,
    Counted,
    Each,
    Given,
    Leaf,
    Node,
    Sleep,
    in_sequence,
)
from stepfold.pipeline._results import BoundReached
from stepfold.pipeline._stage import Cases, Stage
from stepfold.pipeline._works import (
    SPREAD,
    AnyFunction,
    FirstHolding,
    Reading,
    Work,
    name_of,
    plain,
    taken_by,
    work_of,
)
from stepfold.values import Outcome

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
T = TypeVar("T")
S = TypeVar("S", default=Never)
X = TypeVar("X", default=Never)
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)


@overload
def stage(function: Callable[[A], Awaitable[Outcome[S, X]]], /) -> Stage[A, S, X]: ...  # type: ignore[overload-overlap]  # an outcome is also a value
@overload
def stage(function: Callable[[A], Awaitable[B]], /) -> Stage[A, B, Never]: ...
@overload
def stage(function: Callable[[A], Outcome[S, X]], /) -> Stage[A, S, X]: ...  # type: ignore[overload-overlap]  # an outcome is also a value
@overload
def stage(function: Callable[[A], B], /) -> Stage[A, B, Never]: ...
def stage(function: object, /) -> object:
    """Make a stage of a named function, sync or async; also as a decorator.

    What it returns is a value, or where it is an `Outcome`, a success or a failure. A sync
    function runs in the event loop, so it must not block. For lambdas there are `pure` and
    `fallible`, which type checkers can follow.

    Raises:
        UsageError: it is no function, or returns a `Result`.
    """
    return Stage[object, object, object](
        Leaf(work_of("stage", cast("AnyFunction", function), None, "stage"))
    )


def pure(function: Callable[[A], B], /) -> Stage[A, B, Never]:
    """Make a stage of a plain function; what it returns is the value, whatever it is.

    Raises:
        UsageError: it is async, or returns a `Result`.
    """
    called = plain("pure", cast("AnyFunction", function), "pure")
    return Stage(Leaf(work_of("pure", called, Reading.VALUE, "pure")))


def fallible(function: Callable[[A], Outcome[S, X]], /) -> Stage[A, S, X]:
    """Make a stage of a plain function that returns a `Success` or a `Failure`.

    Raises:
        UsageError: it is async, or returns a `Result`.
    """
    called = plain("fallible", cast("AnyFunction", function), "fallible")
    return Stage(Leaf(work_of("fallible", called, Reading.OUTCOME, "fallible")))


def identity() -> Stage[A, A, Never]:
    """The stage that gives what it is given."""
    return Stage(NOTHING)


def given(kind: type[A], /) -> Stage[A, A, Never]:
    """Where a pipeline starts: it says what is given, and gives it."""
    return Stage(Given(kind))


def sleep(seconds: float, /) -> Stage[A, A, Never]:
    """Wait for so many seconds, and give what was given."""
    require_seconds("sleep", seconds)
    return Stage(Sleep(seconds))


def contextual(
    name: str, function: Callable[[StageContext], Awaitable[Outcome[B, E] | Rested]], prompt: object
) -> Stage[Never, B, E]:
    """A stage of what begins runs of its own: it is told where in a pipeline it is.

    In a journal, it keeps its run in `context.kept`, and may give `Rested` where that has to wait.
    `prompt` is the function that the stage is shown and known by.
    """
    work = Work(
        name_of(prompt, name),
        cast("AnyFunction", function),
        Reading.OUTCOME,
        may_wait=True,
        wants_context=True,
        takes=taken_by(prompt),
    )
    return Stage(Leaf(work))


def chosen(
    name: str,
    chooser: Callable[[StageContext], Awaitable[Outcome[object, F] | Rested]],
    labels: tuple[str, ...],
    arms: tuple[Node, ...],
) -> Stage[Never, object, object]:
    """One of several stages, by the number that a chooser gives; if that fails, so does this."""
    function = cast("AnyFunction", chooser)
    work = Work(name, function, Reading.OUTCOME, may_wait=True, wants_context=True)
    return Stage(Choice(work, labels, arms))


def await_input(form: TypeForm[T], /, *, name: str, ask: Callable[[A], str]) -> Stage[A, T, Never]:
    """Wait for an input of this type from a person or another system.

    `name` is what it is answered by, once in a pipeline, and `ask` makes the question. A pipeline
    with this needs a journal: see `Stage.start`.

    Raises:
        UsageError: the type has no JSON form, the name is none, or `ask` is no plain function.
    """
    return Stage(_awaited(form, name, ask, keeps=False))


def await_input_with(
    form: TypeForm[T], /, *, name: str, ask: Callable[[A], str]
) -> Stage[A, tuple[A, T], Never]:
    """As `await_input`, but gives what was given together with the input."""
    return Stage(_awaited(form, name, ask, keeps=True))


def _awaited(form: object, name: str, ask: object, *, keeps: bool) -> Node:
    require_name("await_input, name", name)
    require_form(f"await_input {name}", form)
    function = plain("await_input, ask", cast("AnyFunction", ask), "ask")
    work = work_of("await_input, ask", function, Reading.VALUE, "ask")
    return Awaited(name, form, work, keeps)


def orchestrate(
    plan: Stage[A, Sequence[T], E],
    worker: Stage[T, B, F],
    combine: Stage[tuple[B, ...], C, G],
    /,
    *,
    at_most: int,
) -> Stage[A, C, E | F | G | BoundReached[int]]:
    """Have tasks planned, each done by a worker, all at once, and their results combined.

    A plan of more than `at_most` tasks fails with `BoundReached`, before any is begun. Results
    are in the order of the tasks; the first failure is that of the whole.

    Raises:
        UsageError: an argument is wrong.
    """
    for where, part in (("plan", plan), ("worker", worker), ("combine", combine)):
        require_stage(f"orchestrate, {where}", part, Stage)
    require_bound("orchestrate, at_most", at_most)
    counted = in_sequence(
        Leaf(Work("tasks", SPREAD, Reading.VALUE, is_plain=True)), Counted(at_most)
    )
    tasks = in_sequence(plan.node, counted)
    done = in_sequence(tasks, Each(worker.node, at_most, settles=False))
    return Stage(in_sequence(done, combine.node))


@final
class Case(Generic[T]):
    """A kind of value, which `then` says what to do with."""

    def __init__(self, form: object) -> None:
        self._kinds: tuple[Kind, ...] = kinds_of(form)

    def then(self, stage: Stage[T, B, E], /) -> Cases[T, B, E]:
        """Say which stage takes values of this kind."""
        require_stage("case(…).then", stage, Stage)
        return Cases((self._kinds,), (stage.node,))


def case(form: TypeForm[T], /) -> Case[T]:
    """A kind of value: a class, a union of some, a `Literal`, or `None`.

    Raises:
        UsageError: a value cannot be told to be of this type by looking at it.
    """
    return Case(form)


@final
class When(Generic[A_contra, B_co, E_co]):
    """What happens where something holds, and where something else does."""

    def __init__(self, tests: tuple[AnyFunction, ...], arms: tuple[Node, ...]) -> None:
        self._tests: tuple[AnyFunction, ...] = tests
        self._arms: tuple[Node, ...] = arms

    def when(
        self: "When[A, B, E]", holds: Callable[[A], bool], stage: Stage[A, C, F], /
    ) -> "When[A, B | C, E | F]":
        """Say what happens where this holds, and nothing before it did."""
        require_stage("when", stage, Stage)
        test = plain("when", cast("AnyFunction", holds), "when")
        return When((*self._tests, test), (*self._arms, stage.node))

    def otherwise(self: "When[A, B, E]", stage: Stage[A, C, F], /) -> Stage[A, B | C, E | F]:
        """Say what happens where nothing held; this makes it a stage."""
        require_stage("otherwise", stage, Stage)
        labels = (*(name_of(test, "when") for test in self._tests), "otherwise")
        chooser = Work("when", FirstHolding(self._tests), Reading.CHOICE, is_plain=True)
        return Stage(Choice(chooser, labels, (*self._arms, stage.node)))


def when(holds: Callable[[A], bool], stage: Stage[A, B, E], /) -> When[A, B, E]:
    """Choose a stage by what holds: `when(p, a).when(q, b).otherwise(c)`; the first counts."""
    require_stage("when", stage, Stage)
    return When((plain("when", cast("AnyFunction", holds), "when"),), (stage.node,))
