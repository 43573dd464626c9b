"""How a run of a pipeline ends."""

from typing import Generic, TypeAlias, final

from attrs import frozen
from typing_extensions import TypeVar

from stepfold.pipeline.events import StageKey
from stepfold.values import Cancelled, OpenApproval, OpenRequest, Outcome

B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
B = TypeVar("B")
E = TypeVar("E")


@final
@frozen(order=False)
class Finished(Generic[B_co, E_co]):
    """The pipeline came to its end: with a value, or with a failure that nothing caught."""

    outcome: Outcome[B_co, E_co]


@final
@frozen(order=False)
class Crashed:
    """A stage raised, or was interrupted in a way that cannot be mended: a defect.

    `stage` is its name, `exception` the name of what it raised and `message` its text.
    """

    stage: str
    exception: str
    message: str


@final
@frozen(order=False)
class OpenInput:
    """An input that a suspended pipeline waits for."""

    key: StageKey
    name: str
    question: str


@final
@frozen(order=False)
class AgentAsks:
    """An approval or a result that an agent within a suspended pipeline waits for.

    The answer to `request` is what an agent takes: `approve(asks.request)`, `tool_output(…)` and
    the like. `stage` is the name of the agent's stage.
    """

    key: StageKey
    stage: str
    request: OpenRequest

    @property
    def name(self) -> str:
        """What it is answered by, unless there are several of this name."""
        return self.stage

    @property
    def question(self) -> str:
        """What is asked, in words."""
        call = self.request.call
        if isinstance(self.request, OpenApproval):
            return f"May {call.tool_name} run with {call.input}?"
        return f"What does {call.tool_name} give for {call.input}?"


Open: TypeAlias = OpenInput | AgentAsks
"""What a suspended pipeline waits for."""


@final
@frozen(order=False)
class Suspended:
    """Nothing is left to do here until somebody answers one of what is open."""

    open: tuple[Open, ...]


PipelineEnd: TypeAlias = Finished[B, E] | Suspended | Cancelled | Crashed
"""How a run of a pipeline comes to rest: only `Suspended` may go on."""
