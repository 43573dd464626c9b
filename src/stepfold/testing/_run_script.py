"""A whole run of scripted replies, in one line."""

from collections.abc import Sequence
from typing import Never, cast, overload

import anyio
from typing_extensions import TypeVar, Unpack

from stepfold.agent import Output, Run, RunFailed, RunOptions, generate_text
from stepfold.loop import Limits, RetryPolicy, StopCondition, is_step_count
from stepfold.shell import OfferedTool
from stepfold.testing._clock import VirtualClock
from stepfold.testing._scripted import Scripted, ScriptedModel
from stepfold.values import NO_SETTINGS, CallSettings, Message, ToolChoice, UsageError

D = TypeVar("D")
Out = TypeVar("Out")


_NO_DEPS = object()


class ScriptOptions(RunOptions, total=False):
    """What `run_script` takes beside the script, tools, output and deps: see `Agent`.

    `prompt` is what the run begins with. Where nothing else is said, the run is called `run`,
    its seed is 0, and its clock is a `VirtualClock`, so that it is the same each time.
    """

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
def run_script(
    replies: Sequence[Scripted],
    /,
    *,
    deps: object = _NO_DEPS,
    tools: Sequence[OfferedTool[Never]] = (),
    output: Output[object] | None = None,
    **options: Unpack[ScriptOptions],
) -> Run[object]:
    """Run tools on scripted replies, in an event loop of its own, and give the run.

    However it ends, the run is given: look at `run.end`.

    Args:
        replies: What the model says; see `ScriptedModel`.
        deps: What the tools' contexts hold.
        tools: Functions made tools by `@tool`, and what `provider_tool` gives.
        output: What the run gives: text by default, or `object_of(…)`.
        options: See `ScriptOptions`.

    Raises:
        UsageError: an argument is wrong, or the script is too short.
        RuntimeError: this is called within a running event loop; use an `Agent` there.
    """
    model = ScriptedModel(replies)
    given = cast("Sequence[OfferedTool[object]]", tools)  # the overloads tie deps to tools
    clock = options.get("clock")
    stop_when = options.get("stop_when")

    async def main() -> Run[object]:
        return await generate_text(
            options.get("prompt", "Hello"),
            deps=None if deps is _NO_DEPS else deps,
            tools=given,
            output=cast("Output[object]", output),
            model=model,
            instructions=options.get("instructions", ""),
            stop_when=is_step_count(20) if stop_when is None else stop_when,
            limits=options.get("limits"),
            settings=options.get("settings", NO_SETTINGS),
            tool_choice=options.get("tool_choice", "auto"),
            retry=options.get("retry"),
            allow_system_messages=options.get("allow_system_messages", False),
            cancel=options.get("cancel"),
            journal=options.get("journal"),
            clock=VirtualClock() if clock is None else clock,
            run_id=options.get("run_id", "run"),
            seed=options.get("seed", 0),
        )

    try:
        return anyio.run(main)
    except RunFailed as failed:
        if isinstance(failed.__cause__, UsageError):  # a mistake in the script, not in the run
            raise failed.__cause__ from None
        return failed.run
