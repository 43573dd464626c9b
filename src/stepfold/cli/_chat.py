"""`stepfold chat`: a conversation in the terminal.

Lines are read while nothing runs, so reading may block the event loop: there is no task that
it would keep waiting.
"""

import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec

from stepfold.agent import Agent, Run
from stepfold.cli._ending import BLOCKED, COMPLETED, INTERRUPTED
from stepfold.cli._named import opened_agent
from stepfold.cli._run import streamed, tell_end
from stepfold.cli._screen import Screen, printable
from stepfold.cli._setup import Setup
from stepfold.cli._view import RunView, call_text, end_text, show_steps, summary_of
from stepfold.values import (
    ApprovalResponse,
    Blocked,
    Cancelled,
    Message,
    OpenApproval,
    ToolMessage,
    UserMessage,
)


async def chat(setup: Setup, screen: Screen) -> int:
    """Talk until the input ends, and give the exit code.

    Raises:
        UsageError: the setup names something that is not there.
    """
    async with AsyncExitStack() as stack:
        agent = await opened_agent(setup, screen, stack)
        models = ", ".join(agent.program.models)
        screen.line((f"Talk with {models}. Ctrl-D ends, Ctrl-C stops a reply.", "dim"))
        messages: tuple[Message, ...] = ()
        while True:
            screen.line()
            said = asked(screen, "you> ")
            if said is None:
                return COMPLETED
            if not said.strip():
                continue
            messages = (*messages, UserMessage(said))
            run, unanswered = await _turn(agent, messages, setup, screen)
            messages = run.messages
            if isinstance(run.end, Cancelled):
                show_steps(screen, run.steps, run.usage)
                tell_end(screen, run.end)
                return INTERRUPTED
            if unanswered:
                screen.line((end_text(run.end), "yellow"))
                return BLOCKED
            tell_end(screen, run.end)
            screen.line((summary_of(run.steps), "dim"))


async def _turn(
    agent: Agent, messages: Sequence[Message], setup: Setup, screen: Screen
) -> tuple[Run[str], bool]:
    """Run until nothing is left to approve; tells whether the input ended before that."""
    while True:
        view = RunView(screen, tells_approvals=False)  # they are asked for
        run = await streamed(agent, messages, setup, view.show)
        if not isinstance(run.end, Blocked):
            return run, False
        answers = _answers(screen, run.open_approvals)
        if not answers:
            return run, True
        # The answers go into the history, as they would in a chat that is stored.
        messages = (*run.messages, ToolMessage(answers))


def _answers(screen: Screen, requests: Sequence[OpenApproval]) -> tuple[ApprovalResponse, ...]:
    """Ask for each; nothing if the input ended before the last was said, or nothing is asked."""
    answers: list[ApprovalResponse] = []
    for request in requests:
        answer = _answer(screen, request)
        if answer is None:
            return ()
        answers.append(answer)
    return tuple(answers)


def _answer(screen: Screen, request: OpenApproval) -> ApprovalResponse | None:
    """Ask for yes or no until it is said; what follows a no is the reason for it."""
    why = "" if request.reason is None else f" ({request.reason})"
    screen.line(("  ? ", "yellow"), (call_text(request.call), "bold"), why, hang=4)
    while True:
        said = asked(screen, "    run it? [y/n, or n and why] ")
        if said is None:
            return None
        word, _, reason = said.strip().partition(" ")
        match word.lower().rstrip(",:"):
            case "y" | "yes":
                return ApprovalResponse(request.approval_id, approved=True)
            case "n" | "no":
                why_not = reason.strip() or None
                return ApprovalResponse(request.approval_id, approved=False, reason=why_not)
            case _:
                screen.line(("    please say y or n", "dim"))


def asked(screen: Screen, question: str) -> str | None:
    """Read a line from the user; `None` where the input has ended."""
    screen.idle()
    if sys.stdin.isatty() and screen.out.is_terminal:
        with _interruptible():
            try:
                return input(question)
            except EOFError:
                screen.out.print()
                return None
    line = sys.stdin.readline()
    if not line:
        return None
    said = line.rstrip("\n")
    screen.line((question, "bold"), printable(said))
    return said


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C end a blocking read, which the event loop's own handler would not."""
    if find_spec("readline") is not None:
        import_module("readline")  # arrows and history for `input`
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
