"""`generate_text` and `stream_text`: the agent's loop without an agent."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Never, cast, overload

from typing_extensions import TypeVar, Unpack

from stepfold.agent._agent import Agent
from stepfold.agent._checks import require_known
from stepfold.agent._configured import NO_DEPS
from stepfold.agent._options import (
    AgentOptions,
    GenerateOptions,
    RunOptions,
    StreamOptions,
    StreamTextOptions,
)
from stepfold.agent._output import Output
from stepfold.agent._program import AGENT_OPTIONS
from stepfold.agent._run import Run, RunFailed
from stepfold.agent._run_stream import RunStream
from stepfold.loop import is_step_count
from stepfold.ports import LanguageModel
from stepfold.shell import OfferedTool, PrepareStep, RepairToolCall, StopCheck, ToolApproval
from stepfold.values import Message, UsageError

if TYPE_CHECKING:
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
async def generate_text(
    prompt: str | Sequence[Message],
    /,
    *,
    deps: object = NO_DEPS,
    tools: Sequence[OfferedTool[Never]] = (),
    output: Output[object] | None = None,
    **options: Unpack[GenerateOptions[Never]],
) -> Run[object]:
    """Ask a model, and let it use tools.

    Stops after one step unless `stop_when` says otherwise, as in the AI SDK, with one more for each
    retry that the output allows: with tools, give something like `stop_when=is_step_count(5)`, or
    use an `Agent`.

    Args:
        prompt: Text, or the messages of a conversation; the sequence itself is not changed.
        deps: What the contexts of tools and hooks hold.
        tools: Functions made tools by `@tool`, and what `provider_tool` gives.
        output: What the run gives: text by default, or `object_of(…)`.
        options: See `GenerateOptions`; `model` has to be there.

    Raises:
        RunFailed: the run ended in `Failed`; the exception carries the run.
        UsageError: an argument is wrong, or the model's id or key is not known.
    """
    agent, own = _agent_of(tools, output, options)
    return await agent.generate(prompt, deps=deps, **own)


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
def stream_text(
    prompt: str | Sequence[Message],
    /,
    *,
    deps: object = NO_DEPS,
    tools: Sequence[OfferedTool[Never]] = (),
    output: Output[object] | None = None,
    **options: Unpack[StreamTextOptions[Never]],
) -> RunStream[object]:
    """Ask a model, and let it use tools, part by part.

    As `generate_text`, but gives a stream to be used in `async with`; see `Agent.stream`. The
    options are those of `StreamTextOptions`.

    Raises:
        UsageError: an argument is wrong, or the model's id or key is not known.
    """
    agent, own = _agent_of(tools, output, options, StreamTextOptions.__annotations__)
    return agent.stream(prompt, deps=deps, **cast("StreamOptions", own))


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
def model_stage(
    prompt: Callable[[A], str | Sequence[Message]],
    /,
    *,
    model: str | LanguageModel,
    output: Output[object] | None = None,
    **options: Unpack[AgentOptions],
) -> "Stage[A, object, RunFailed]":
    """Make a stage of a pipeline that asks a model once: `generate_text` as a stage.

    Args:
        prompt: Makes the prompt of what the stage is given.
        model: A model, or its id.
        output: What the stage gives: text by default, or `object_of(…)`.
        options: See `AgentOptions`.

    Raises:
        UsageError: an argument is wrong.
    """
    given = cast("GenerateOptions[Never]", {**options, "model": model})
    agent, _ = _agent_of((), output, given)
    return agent.stage(prompt)


_RUN_OPTIONS = frozenset(StreamOptions.__annotations__)
_HOOKS = ("prepare_step", "repair_tool_call", "tool_approval", "stop_check")
_KEPT_OPTIONS = AGENT_OPTIONS.union(_HOOKS) - _RUN_OPTIONS


class _AgentOptions(AgentOptions, total=False):
    prepare_step: PrepareStep[object] | None
    repair_tool_call: RepairToolCall[object] | None
    tool_approval: ToolApproval[object] | None
    stop_check: StopCheck[object] | None


def _agent_of(
    tools: Sequence[OfferedTool[Never]],
    output: Output[object] | None,
    options: GenerateOptions[Never],
    known: Iterable[str] = GenerateOptions.__annotations__,
) -> tuple[Agent[object, object], RunOptions]:
    """The agent that the options describe, and what belongs to its one run.

    What ties hooks and tools to deps are the overloads.
    """
    require_known(options, known)
    if "model" not in options:
        raise UsageError("expected model=…, got none: give an id, or a model")
    own = {name: given for name, given in options.items() if name in _RUN_OPTIONS}
    kept = {name: given for name, given in options.items() if name in _KEPT_OPTIONS}
    if kept.get("stop_when") is None:
        kept["stop_when"] = is_step_count(1 if output is None else 1 + output.spec.retries)
    agent = Agent(
        model=options["model"],
        tools=cast("Sequence[OfferedTool[object]]", tools),
        output=output,
        **cast("_AgentOptions", kept),
    )
    return agent, cast("RunOptions", own)
