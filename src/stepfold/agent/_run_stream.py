"""`RunStream`: a run, part by part."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Generic, Protocol, Self, final

from typing_extensions import TypeVar, override

from stepfold.agent._output import Output
from stepfold.agent._run import Run
from stepfold.loop import JournalHeader, LoopState
from stepfold.ports import Journal
from stepfold.shell import RunPart
from stepfold.values import TextDelta

Out_co = TypeVar("Out_co", covariant=True)


class _Pulled(Protocol):
    """What a stream needs of its driver, whatever the type of the deps."""

    @property
    def state(self) -> LoopState: ...
    @property
    def at_rest(self) -> bool: ...
    async def pull(self) -> RunPart: ...
    async def __aenter__(self) -> object: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None: ...


@final
class RunStream(Generic[Out_co]):
    """A run as a stream: use it in `async with`, iterate it once, in one task.

    Each step of the iteration pulls the model's next part, so a slow reader slows the model.
    Leaving the block early cancels the run promptly and keeps what was finished.
    """

    def __init__(
        self,
        driver: _Pulled,
        output: Output[Out_co],
        journal: Journal | None,
        header: JournalHeader,
    ) -> None:
        self._driver = driver
        self._output = output
        self._journal = journal
        self._header = header

    async def __aenter__(self) -> Self:
        """Start the run."""
        if self._journal is not None:
            await self._journal.begin(self._header)
        await self._driver.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None:
        """End the run, if it has not ended."""
        return await self._driver.__aexit__(kind, error, traceback)

    def __aiter__(self) -> Self:
        """Give the stream itself."""
        return self

    async def __anext__(self) -> RunPart:
        """Give the next part: the model's, or a note of what was decided."""
        return await self._driver.pull()

    def text(self) -> AsyncIterator[str]:
        """Give only the text, as it comes."""
        return _Text(self._driver)

    async def run(self) -> Run[Out_co]:
        """Read the rest of the stream and give the run; after the block, the run as it ended."""
        if not self._driver.at_rest:
            async for _ in self:
                pass
        return Run(self._driver.state, self._output)


@final
class _Text(AsyncIterator[str]):
    def __init__(self, driver: _Pulled) -> None:
        self._driver = driver

    @override
    async def __anext__(self) -> str:
        while True:
            part = await self._driver.pull()
            if isinstance(part, TextDelta):
                return part.delta
