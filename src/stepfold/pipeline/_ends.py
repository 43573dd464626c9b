"""How a run of a pipeline ends."""

from typing import Generic, TypeAlias, final

from attrs import frozen
from typing_extensions import TypeVar

from stepfold.pipeline.events import StageKey
from stepfold.values import Cancelled, Outcome

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
class Suspended:
    """Nothing is left to do here until somebody gives one of the open inputs."""

    open: tuple[OpenInput, ...]


PipelineEnd: TypeAlias = Finished[B, E] | Suspended | Cancelled | Crashed
"""How a run of a pipeline comes to rest: only `Suspended` may go on."""
