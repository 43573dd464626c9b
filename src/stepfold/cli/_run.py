"""`stepfold run`: one prompt, one run, shown as it happens."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from stepfold.agent import Agent, Run
from stepfold.cli._ending import cancelled_by_interrupt, code_of
from stepfold.cli._lines import part_line, run_line, write_line
from stepfold.cli._named import opened_agent
from stepfold.cli._screen import Screen
from stepfold.cli._setup import Setup
from stepfold.cli._view import RunView, end_text, show_steps
from stepfold.shell import CancelHandle, RunPart
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    Failed,
    Message,
    OpenApproval,
    RunEnd,
    Stopped,
)


async def run_once(setup: Setup, prompt: str, screen: Screen, *, as_json: bool) -> int:
    """Run a prompt and give the exit code.

    Raises:
        UsageError: the setup names something that is not there.
    """
    async with AsyncExitStack() as stack:
        agent = await opened_agent(setup, screen, stack)
        if as_json:
            run = await streamed(agent, prompt, setup, lambda part: write_line(part_line(part)))
            write_line(run_line(run))
        else:
            run = await streamed(agent, prompt, setup, RunView(screen).show)
            show_steps(screen, run.steps, run.usage)
        tell_end(screen, run.end, as_json=as_json)
        return code_of(run.end)


async def streamed(
    agent: Agent,
    prompt: str | Sequence[Message],
    setup: Setup,
    show: Callable[[RunPart], None],
) -> Run[str]:
    """Run a prompt, showing each part as it comes; Ctrl-C cancels the run."""
    cancel = CancelHandle()
    async with (
        cancelled_by_interrupt(cancel),
        agent.stream(prompt, cancel=cancel, seed=setup.seed) as stream,
    ):
        async for part in stream:
            show(part)
    return await stream.run()


def tell_end(screen: Screen, end: RunEnd[object], *, as_json: bool = False) -> None:
    """Say how a run ended, unless it is complete."""
    told = end_text(end)
    match end:
        case Completed():
            screen.idle()
        case Failed():
            screen.complain(told.removeprefix("failed: "))
        case Blocked(requests) if not as_json:
            screen.line((told, "yellow"))
            if any(isinstance(request, OpenApproval) for request in requests):
                screen.line(("`stepfold chat` asks for approvals", "dim"))
        case Blocked() | Stopped() | Cancelled():
            if not as_json:
                screen.line((told, "yellow"))
