"""`route`: a model chooses the stage."""

from collections.abc import Callable, Sequence
from typing import Generic, Literal, cast, final

from attrs import frozen
from typing_extensions import TypeForm, TypeVar

from stepfold.agent._agent import Agent
from stepfold.agent._asking import Asked, Asking
from stepfold.agent._checks import require_kind
from stepfold.agent._configured import NO_DEPS
from stepfold.agent._output import choice_of
from stepfold.agent._run import RunFailed
from stepfold.loop import Diverged, LoopState
from stepfold.pipeline import Kept, Node, NotRouted, Rested, Stage, StageContext, chosen
from stepfold.ports import LanguageModel
from stepfold.values import Failure, JsonText, Outcome, Success, UsageError

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
E = TypeVar("E")
F = TypeVar("F")
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

_ASKED = "Choose where this has to go. Answer with the name of one of:"


@final
class Routes(Generic[A_contra, B_co, E_co]):
    """Where a model may send a value: `to("refund", "…", a) | to("other", "…", b)`."""

    def __init__(self, told: tuple[tuple[str, str], ...], nodes: tuple[Node, ...]) -> None:
        self._told: tuple[tuple[str, str], ...] = told
        self._nodes: tuple[Node, ...] = nodes

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        """The name of each, and when it is the right one."""
        return self._told

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The trees of the stages."""
        return self._nodes

    def __or__(self: "Routes[A, B, E]", other: "Routes[A, C, F]", /) -> "Routes[A, B | C, E | F]":
        """All of these; no two may have one name."""
        require_kind("|", other, Routes)
        for name in {name for name, _ in self.told} & {name for name, _ in other.told}:
            raise UsageError(f"to: expected names that differ, got {name!r} twice")
        return Routes((*self.told, *other.told), (*self.nodes, *other.nodes))


def to(name: str, description: str, stage: Stage[A, B, E], /) -> Routes[A, B, E]:
    """A stage that a model may choose: what it is called, and when it is the right one.

    Raises:
        UsageError: the name is empty, or the stage is none.
    """
    require_kind("to", stage, Stage)
    if not name.strip():
        raise UsageError(f"to: expected a name for the model to answer with, got {name!r}")
    return Routes(((name, description),), (stage.node,))


def route(
    routes: Routes[A, B, E], /, *, model: str | LanguageModel, prompt: Callable[[A], str]
) -> Stage[A, B, E | NotRouted]:
    """Have a model choose a stage, by their names and descriptions, and go on with it.

    The chosen stage is given what the model was asked about. Where the model fails, or answers
    with no name, this fails with `NotRouted`.

    Raises:
        UsageError: an argument is wrong.
    """
    require_kind("route", routes, Routes)
    names = tuple(name for name, _ in routes.told)
    told = (f"- {name}: {description}" for name, description in routes.told)
    form = cast("TypeForm[str]", Literal[names])
    agent = Agent(model=model, output=choice_of(form), instructions="\n".join((_ASKED, *told)))
    asking = Asking(cast("Asked", agent), cast("Callable[[object], str]", prompt), NO_DEPS)
    choosing = _Choosing(asking, names)
    return cast("Stage[A, B, E | NotRouted]", chosen("route", choosing, names, routes.nodes))


@final
@frozen(order=False)
class _Choosing:
    """Asks a model for the name of a route, and gives its number."""

    asking: Asking
    names: tuple[str, ...]

    async def __call__(self, context: StageContext) -> Outcome[object, NotRouted] | Rested:
        """Ask the model within a pipeline."""
        match await self.asking(context):
            case Success(name):
                return Success(self.names.index(str(name)))
            case Failure(failed):
                return Failure(_not_routed(failed))
            case Rested() as rested:
                return rested

    # --- in a journal -------------------------------------------------------------------------

    def reached(self, kept: Kept, /) -> Outcome[LoopState, Diverged]:
        """The state that its run had reached."""
        return self.asking.reached(kept)

    def value_of(self, output: JsonText, /) -> Outcome[object, str]:
        """The number of the route that was named."""
        match self.asking.value_of(output):
            case Success(name) if name in self.names:
                return Success(self.names.index(str(name)))
            case Success(name):
                return Failure(f"there is no route {name!r:.100}")
            case Failure(problem):
                return Failure(problem)

    def error_of(self, state: LoopState, /) -> NotRouted:
        """Why no route was named."""
        return _not_routed(self.asking.error_of(state))

    def check(self, state: LoopState, answers: Sequence[object], /) -> None:
        """Refuse what answers no request of the run.

        Raises:
            UsageError: it does not.
        """
        self.asking.check(state, answers)


def _not_routed(failed: RunFailed) -> NotRouted:
    return NotRouted(failed.run.text, message=str(failed))
