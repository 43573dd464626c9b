"""What a state owes and is owed."""

from stepfold.loop._state import (
    Calling,
    Checking,
    Concluding,
    LoopState,
    Phase,
    Preparing,
    Resting,
    Waiting,
    Working,
    open_request,
    slot_key,
)
from stepfold.loop.commands import (
    BindCall,
    BindOutput,
    CallModel,
    CheckStop,
    Command,
    PrepareStep,
    RepairCall,
    ResolveApproval,
    RunTool,
    Wait,
)
from stepfold.values import OpenRequest


def pending(state: LoopState) -> tuple[Command, ...]:
    """Exactly what is in flight: every command issued and not yet answered, in call order."""
    return pending_in(state.phase)


def pending_in(phase: Phase) -> tuple[Command, ...]:
    """What a phase owes: see `pending`."""
    match phase:
        case Preparing(step):
            return (PrepareStep(step),)
        case Calling() as calling:
            return (CallModel(calling.key, calling.model),)
        case Waiting(calling, until):
            return (Wait(calling.key, until),)
        case Checking(step):
            return (CheckStop(step),)
        case Concluding(step):
            return (BindOutput(step),)
        case Working() as working:
            return _of_slots(working)
        case _:
            return ()


def _of_slots(working: Working) -> tuple[Command, ...]:
    commands: list[Command] = []
    for slot in working.slots:
        key = slot_key(working.step, slot)
        match slot.status:
            case "repairing":
                commands.append(RepairCall(key))
            case "binding":
                commands.append(BindCall(key))
            case "deciding":
                commands.append(ResolveApproval(key))
            case "running":
                commands.append(RunTool(key, slot.call.tool_name, slot.deadline, slot.grant))
            case _:
                pass
    return tuple(commands)


def open_requests(state: LoopState) -> tuple[OpenRequest, ...]:
    """What people and clients owe, in call order; an answer that is held is owed no more."""
    phase = state.phase
    if not isinstance(phase, Working | Resting):
        return ()
    return tuple(
        request
        for slot in phase.slots
        if not slot.is_held and (request := open_request(phase.step, slot)) is not None
    )
