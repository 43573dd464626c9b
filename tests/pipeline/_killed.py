"""A process that runs a pipeline and is killed after so many records; see `test_killed.py`."""

import os
import signal
import sys
from pathlib import Path
from typing import Final, final

import anyio

import stepfold as sf
from stepfold.durable import FileStore
from stepfold.ports import JournalConflict, JournalRecord
from stepfold.testing import ScriptedModel, call, reply

EFFECTS: Final = "effects.txt"


def pipeline(folder: Path) -> sf.Stage[str, int, sf.RunFailed]:
    """Has an agent call a tool, does things side by side, and waits for a figure."""

    def done(what: str) -> None:
        with (folder / EFFECTS).open("a") as effects:
            effects.write(f"{what}\n")

    @sf.tool
    def note(word: str) -> str:
        """Note a word."""
        done(f"tool {word}")
        return word

    def said(request: sf.ModelRequest) -> sf.ModelReply:
        if isinstance(request.messages[-1], sf.ToolMessage):
            return reply("a bc def")
        return reply(call(note, {"word": "x"}))

    def asked(text: str) -> str:
        return text

    @sf.stage
    def listed(text: str) -> list[str]:
        return text.split()

    @sf.stage
    async def measured(word: str) -> int:
        done(f"stage {word}")
        await anyio.sleep(0.001)
        return len(word)

    @sf.stage
    def total(given: tuple[tuple[int, ...], int]) -> int:
        return sum(given[0]) + given[1]

    def question(lengths: tuple[int, ...]) -> str:
        return f"What shall be added to {lengths}?"

    agent = sf.Agent(model=ScriptedModel([said] * 9), tools=[note])
    each = sf.given(str).then(agent.stage(asked)).then(listed.idempotent())
    asking = each.map_each(measured, limit=2).then(
        sf.await_input_with(int, name="figure", ask=question)
    )
    return asking.then(total.idempotent())


@final
class Deadly:
    """A store in a folder that kills its process once so many records are written."""

    def __init__(self, folder: Path, left: int) -> None:
        self._store = FileStore(folder)
        self._left = left
        self.read = self._store.read
        self.list_runs = self._store.list_runs
        self.fork = self._store.fork
        self.delete = self._store.delete
        self.claim = self._store.claim
        self.renew = self._store.renew
        self.release = self._store.release

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> sf.Outcome[int, JournalConflict]:
        """Append a record, which may be the last."""
        outcome = await self._store.append(run, record, expected=expected)
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome


async def work(folder: Path, left: int) -> None:
    """Begin the run, and die."""
    store = Deadly(folder, left)
    await pipeline(folder).start("x", journal=store, run_id="r", seed=1)


if __name__ == "__main__":
    anyio.run(work, Path(sys.argv[1]), int(sys.argv[2]))
