from collections.abc import Mapping
from typing import TypeAlias
from stepfold.pipeline._ends import AgentAsks, Open, OpenInput

Answers: TypeAlias = (
    Mapping[str, object]
    | Mapping[OpenInput, object]
    | Mapping[AgentAsks, object]
    | Mapping[Open, object]
)
