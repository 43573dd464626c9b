from collections.abc import Callable, Sequence
from typing import overload
from typing_extensions import TypeVar, Unpack
from stepfold.agent._options import AgentOptions, GenerateOptions, StreamTextOptions
from stepfold.agent._output import Output
from stepfold.agent._run import Run, RunFailed
from stepfold.agent._run_stream import RunStream
from stepfold.ports import LanguageModel
from stepfold.shell import OfferedTool
from stepfold.values import Message
from stepfold.pipeline import Stage

A = TypeVar("A")
D = TypeVar("D")
Out = TypeVar("Out")

@overload
async def generate_text(
    prompt: str | Sequence[Message],
    /,
    *,
    tools: Sequence[OfferedTool[object]] = (),
    output: None = None,
    **options: Unpack[GenerateOptions[object]],
) -> Run[str]: ...
@overload
async def generate_text(
    prompt: str | Sequence[Message],
    /,
    *,
    tools: Sequence[OfferedTool[object]] = (),
    output: Output[Out],
    **options: Unpack[GenerateOptions[object]],
) -> Run[Out]: ...
@overload
async def generate_text(
    prompt: str | Sequence[Message],
    /,
    *,
    deps: D,
    tools: Sequence[OfferedTool[D]],
    output: None = None,
    **options: Unpack[GenerateOptions[D]],
) -> Run[str]: ...
@overload
async def generate_text(
    prompt: str | Sequence[Message],
    /,
    *,
    deps: D,
    tools: Sequence[OfferedTool[D]],
    output: Output[Out],
    **options: Unpack[GenerateOptions[D]],
) -> Run[Out]: ...
@overload
def stream_text(
    prompt: str | Sequence[Message],
    /,
    *,
    tools: Sequence[OfferedTool[object]] = (),
    output: None = None,
    **options: Unpack[StreamTextOptions[object]],
) -> RunStream[str]: ...
@overload
def stream_text(
    prompt: str | Sequence[Message],
    /,
    *,
    tools: Sequence[OfferedTool[object]] = (),
    output: Output[Out],
    **options: Unpack[StreamTextOptions[object]],
) -> RunStream[Out]: ...
@overload
def stream_text(
    prompt: str | Sequence[Message],
    /,
    *,
    deps: D,
    tools: Sequence[OfferedTool[D]],
    output: None = None,
    **options: Unpack[StreamTextOptions[D]],
) -> RunStream[str]: ...
@overload
def stream_text(
    prompt: str | Sequence[Message],
    /,
    *,
    deps: D,
    tools: Sequence[OfferedTool[D]],
    output: Output[Out],
    **options: Unpack[StreamTextOptions[D]],
) -> RunStream[Out]: ...
@overload
def model_stage(
    prompt: Callable[[A], str | Sequence[Message]],
    /,
    *,
    model: str | LanguageModel,
    output: None = None,
    **options: Unpack[AgentOptions],
) -> "Stage[A, str, RunFailed]": ...
@overload
def model_stage(
    prompt: Callable[[A], str | Sequence[Message]],
    /,
    *,
    model: str | LanguageModel,
    output: Output[Out],
    **options: Unpack[AgentOptions],
) -> "Stage[A, Out, RunFailed]": ...
