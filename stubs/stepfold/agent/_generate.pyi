from collections.abc import Sequence
from typing import overload
from typing_extensions import TypeVar, Unpack
from stepfold.agent._options import GenerateOptions, StreamTextOptions
from stepfold.agent._output import Output
from stepfold.agent._run import Run
from stepfold.agent._run_stream import RunStream
from stepfold.shell import OfferedTool
from stepfold.values import Message

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
