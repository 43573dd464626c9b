import os
import select
import signal
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from stepfold.agent import Agent
from stepfold.cli._ending import cancelled_by_interrupt
from stepfold.cli._run import streamed
from stepfold.cli._setup import Setup
from stepfold.shell import CancelHandle, tool
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import Cancelled, ModelReply, ModelRequest, TextDelta, UsageError

pty = pytest.importorskip("pty")


# --- in this process, on both event loops -----------------------------------------------------


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_an_interrupt_cancels_the_run_and_keeps_what_was_finished() -> None:
    async def interrupted(_: ModelRequest) -> ModelReply:
        signal.raise_signal(signal.SIGINT)
        await anyio.sleep(60)
        return reply("too late")

    model = ScriptedModel([reply("First, a sum.", call(add, {"a": 1, "b": 2})), interrupted])
    agent = Agent(model=model, tools=[add])
    said: list[str] = []
    with anyio.fail_after(10):
        run = await streamed(
            agent,
            "Go.",
            Setup(),
            lambda part: said.append(part.delta) if isinstance(part, TextDelta) else None,
        )

    assert run.end == Cancelled("interrupted by Ctrl-C")
    assert run.results_of(add) == (3,)
    assert "".join(said) == "First, a sum."


async def test_a_mistake_leaves_the_block_as_it_is() -> None:
    with pytest.raises(UsageError, match="wrong"):
        async with cancelled_by_interrupt(CancelHandle()):
            raise UsageError("wrong")


def test_another_thread_hears_no_signals_and_needs_none() -> None:
    done: list[bool] = []

    async def block() -> None:
        async with cancelled_by_interrupt(CancelHandle()):
            done.append(True)

    thread = threading.Thread(target=anyio.run, args=(block,))
    thread.start()
    thread.join(20)

    assert done == [True]


# --- in a terminal ----------------------------------------------------------------------------


class Terminal:
    """The command in a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self.out = ""
        self.process, self._end = pty.fork()
        if self.process == 0:  # pragma: no cover - the child
            os.execv(sys.executable, [sys.executable, "-m", "stepfold.cli", *arguments])

    def until(self, text: str) -> None:
        """Read until something is shown."""
        begun = len(self.out)
        while text not in self.out[begun:]:
            if not self._read():
                pytest.fail(f"it ended before it showed {text!r}: {self.out}")

    def press(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def ended(self) -> int:
        """Read to the end and give the exit code."""
        while self._read():
            pass
        os.close(self._end)
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def _read(self) -> bool:
        if not select.select([self._end], [], [], 60)[0]:
            os.kill(self.process, signal.SIGKILL)
            pytest.fail(f"nothing came for a minute after {self.out!r}")
        try:
            data = os.read(self._end, 65_536)
        except OSError:  # the other end is closed
            return False
        self.out += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.mark.usefixtures("desk")
def test_ctrl_c_cancels_a_run_and_shows_the_table() -> None:
    terminal = Terminal("run", "Go.", "-m", "desk:stuck", "-t", "desk:add")
    terminal.until("step 2: waiting")
    terminal.press(CTRL_C)

    assert terminal.ended() == 130
    assert "tok/s" in terminal.out
    assert "cancelled: interrupted by Ctrl-C" in terminal.out


@pytest.mark.usefixtures("desk")
def test_ctrl_c_ends_the_process_although_a_tool_cannot_be_interrupted(desk: Path) -> None:
    with (desk / "desk.py").open("a") as file:
        file.write(
            "\n\n@sf.tool\ndef sleep() -> None:\n"
            '    """Sleep for long."""\n'
            "    import time\n\n    time.sleep(600)\n\n\n"
            "sleepy = ScriptedModel([reply(call(sleep))])\n"
        )
    terminal = Terminal("run", "Go.", "-m", "desk:sleepy", "-t", "desk:sleep")
    terminal.until("running sleep")
    terminal.press(CTRL_C)

    assert terminal.ended() == 130
    assert "sleep (interrupted)" in terminal.out


@pytest.mark.usefixtures("desk")
def test_ctrl_c_cancels_a_reply_of_a_conversation() -> None:
    terminal = Terminal("chat", "-m", "desk:stuck", "-t", "desk:add")
    terminal.until("you> ")
    terminal.press("Go.\n")
    terminal.until("step 2: waiting")
    terminal.press(CTRL_C)

    assert terminal.ended() == 130
    assert "tok/s" in terminal.out


@pytest.mark.usefixtures("desk")
def test_a_conversation_asks_and_ends_with_ctrl_d() -> None:
    terminal = Terminal("chat", "-m", "desk:tidy", "-t", "desk:delete")
    terminal.until("you> ")
    terminal.press("x.txt\n")
    terminal.until("run it?")
    terminal.press("y\n")
    terminal.until("x.txt is gone")
    terminal.until("you> ")
    terminal.press(CTRL_D)

    assert terminal.ended() == 0


@pytest.mark.usefixtures("desk")
def test_ctrl_c_while_nothing_runs_ends_the_conversation() -> None:
    terminal = Terminal("chat", "-m", "desk:tidy")
    terminal.until("you> ")
    time.sleep(0.5)  # a signal between readline's prompt and its first wait is heard late
    terminal.press(CTRL_C)

    assert terminal.ended() == 130
    assert "Traceback" not in terminal.out
