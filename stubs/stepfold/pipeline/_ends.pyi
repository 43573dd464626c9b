from typing import Generic, TypeAlias, final
from attrs import frozen
from typing_extensions import TypeVar
from stepfold.pipeline.events import StageKey
from stepfold.values import Cancelled, OpenRequest, Outcome

B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
B = TypeVar("B")
E = TypeVar("E")

@final
@frozen(order=False)
class Finished(Generic[B_co, E_co]):
    outcome: Outcome[B_co, E_co]

@final
@frozen(order=False)
class Crashed:
    stage: str
    exception: str
    message: str

@final
@frozen(order=False)
class OpenInput:
    key: StageKey
    name: str
    question: str

@final
@frozen(order=False)
class AgentAsks:
    key: StageKey
    stage: str
    request: OpenRequest

    @property
    def name(self) -> str: ...
    @property
    def question(self) -> str: ...

Open: TypeAlias = OpenInput | AgentAsks

@final
@frozen(order=False)
class Suspended:
    open: tuple[Open, ...]

PipelineEnd: TypeAlias = Finished[B, E] | Suspended | Cancelled | Crashed
