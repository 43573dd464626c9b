from typing import ClassVar, Generic
from temporalio import workflow
from typing_extensions import TypeVar, override
from stepfold.agent import Agent
from stepfold.durable.temporal._options import DEFAULT_OPTIONS, EngineOptions

D = TypeVar("D", default=object)
Out = TypeVar("Out", default=str)

class RunWorkflow(Generic[D, Out]):
    workflow_name: ClassVar[str]
    agent: Agent[D, Out]
    engine: EngineOptions = DEFAULT_OPTIONS

    @override
    def __init_subclass__(cls, *, name: str | None = None) -> None: ...
    @classmethod
    def agent_of(cls) -> Agent[D, Out]: ...
    @workflow.init
    def __init__(self, *given: object) -> None: ...
