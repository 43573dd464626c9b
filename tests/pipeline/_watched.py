"""A stage that never ends by itself, and tells how it did end."""

from typing import final

import anyio

import stepfold as sf


@final
class Watched:
    """Keeps how each execution of its stage ended."""

    def __init__(self) -> None:
        self.begun = 0
        self.ends: list[str] = []
        self._changed = anyio.Event()
        self.stage: sf.Stage[int, int, str] = sf.stage(self._run)

    async def _run(self, number: int) -> sf.Outcome[int, str]:
        self.begun += 1
        self._changed.set()
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.005)  # whoever cancels has to wait for this
            self.ends.append("cancelled")
            raise
        return sf.Success(number)

    async def all_begun(self, count: int) -> None:
        """Wait until so many executions have begun."""
        while self.begun < count:
            self._changed = anyio.Event()
            await self._changed.wait()
