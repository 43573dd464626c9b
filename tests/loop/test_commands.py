"""Commands have short names, unique within a run."""

import pytest

from stepfold.loop.commands import (
    BindCall,
    CallKey,
    CallModel,
    CheckStop,
    Command,
    ModelCallKey,
    PrepareStep,
    RepairCall,
    ResolveApproval,
    RunTool,
    Wait,
    command_id,
)

MODEL_CALL = ModelCallKey(1, 2)
CALL = CallKey(1, 2, 3)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (CallModel(MODEL_CALL, "acme/one"), "CallModel/1/2"),
        (Wait(MODEL_CALL, 5), "Wait/1/2"),
        (RunTool(CALL, "look", 9), "RunTool/1/2/3"),
        (RepairCall(CALL), "RepairCall/1/2/3"),
        (BindCall(CALL), "BindCall/1/2/3"),
        (ResolveApproval(CALL), "ResolveApproval/1/2/3"),
        (PrepareStep(1), "PrepareStep/1"),
        (CheckStop(1), "CheckStop/1"),
    ],
)
def test_a_command_is_named_by_its_kind_and_its_key(command: Command, name: str) -> None:
    """A journal keeps the names, and replay compares them (law 2)."""
    assert name == command_id(command)
