from collections.abc import Sequence
from typing import overload
from typing_extensions import TypeVar, Unpack
from stepfold.agent import Output, Run, RunOptions
from stepfold.loop import Limits, RetryPolicy, StopCondition
from stepfold.shell import OfferedTool
from stepfold.testing._scripted import Scripted
from stepfold.values import CallSettings, Message, ToolChoice

D = TypeVar("D")
Out = TypeVar("Out")

class ScriptOptions(RunOptions, total=False):
    prompt: str | Sequence[Message]
    instructions: str
    stop_when: StopCondition | None
    limits: Limits | None
    settings: CallSettings
    tool_choice: ToolChoice
    retry: RetryPolicy | None
    allow_system_messages: bool

@overload
def run_script(
    replies: Sequence[Scripted],
    /,
    *,
    tools: Sequence[OfferedTool[object]] = (),
    output: None = None,
    **options: Unpack[ScriptOptions],
) -> Run[str]: ...
@overload
def run_script(
    replies: Sequence[Scripted],
    /,
    *,
    tools: Sequence[OfferedTool[object]] = (),
    output: Output[Out],
    **options: Unpack[ScriptOptions],
) -> Run[Out]: ...
@overload
def run_script(
    replies: Sequence[Scripted],
    /,
    *,
    deps: D,
    tools: Sequence[OfferedTool[D]],
    output: None = None,
    **options: Unpack[ScriptOptions],
) -> Run[str]: ...
@overload
def run_script(
    replies: Sequence[Scripted],
    /,
    *,
    deps: D,
    tools: Sequence[OfferedTool[D]],
    output: Output[Out],
    **options: Unpack[ScriptOptions],
) -> Run[Out]: ...
