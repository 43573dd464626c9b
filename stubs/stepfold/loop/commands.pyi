from typing import TypeAlias, final
from attrs import frozen
from stepfold.values import Instant

@final
@frozen(order=False)
class ModelCallKey:
    step: int
    total: int

@final
@frozen(order=False)
class CallKey:
    step: int
    index: int
    attempt: int

@final
@frozen(order=False)
class PrepareStep:
    step: int

@final
@frozen(order=False)
class CallModel:
    key: ModelCallKey
    model: str

@final
@frozen(order=False)
class Wait:
    key: ModelCallKey
    until: Instant

@final
@frozen(order=False)
class RepairCall:
    key: CallKey

@final
@frozen(order=False)
class BindCall:
    key: CallKey

@final
@frozen(order=False)
class ResolveApproval:
    key: CallKey

@final
@frozen(order=False)
class Grant:
    tokens: int | None = None
    cost: int | None = None
    tool_calls: int | None = None

@final
@frozen(order=False)
class RunTool:
    key: CallKey
    tool_name: str
    deadline: Instant | None = None
    grant: Grant | None = None

@final
@frozen(order=False)
class CheckStop:
    step: int

@final
@frozen(order=False)
class BindOutput:
    step: int

Command: TypeAlias = (
    CallModel
    | RunTool
    | PrepareStep
    | Wait
    | RepairCall
    | BindCall
    | ResolveApproval
    | CheckStop
    | BindOutput
)

def command_id(command: Command) -> str: ...

__all__ = (
    "BindCall",
    "BindOutput",
    "CallKey",
    "CallModel",
    "CheckStop",
    "Command",
    "Grant",
    "ModelCallKey",
    "PrepareStep",
    "RepairCall",
    "ResolveApproval",
    "RunTool",
    "Wait",
    "command_id",
)
