"""`RunStream`: a run, part by part."""

from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Generic, Protocol, Self, cast, final

from typing_extensions import TypeVar, override

from stepfold.agent._answer_reader import AnswerReader
from stepfold.agent._begun import Begun
from stepfold.agent._output import Output
from stepfold.agent._output_partial import PartialElements, Unfenced
from stepfold.agent._run import Run
from stepfold.agent._transforms import Parts
from stepfold.loop import LoopState
from stepfold.shell import CancelHandle, RunPart, Steering
from stepfold.values import JsonText, PartialJson, TextDelta, UsageError, UserMessage

Out_co = TypeVar("Out_co", covariant=True)
T = TypeVar("T")
D = TypeVar("D")


class _Pulled(Protocol):
    """What a stream needs of its driver, whatever the type of the deps."""

    @property
    def state(self) -> LoopState: ...
    @property
    def at_rest(self) -> bool: ...
    @property
    def outputs(self) -> Mapping[JsonText, object]: ...
    @property
    def steering(self) -> Steering: ...
    @property
    def cancel_handle(self) -> CancelHandle: ...
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
        parts: Parts,
        output: Output[Out_co],
        given: Begun[D],
    ) -> None:
        self._driver = driver
        self._parts = parts
        self._output = output
        self._journal = given.runtime.journal
        self._header = given.header
        self._child = given.child

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
        try:
            return await self._driver.__aexit__(kind, error, traceback)
        finally:
            if self._child is not None:
                self._child.end(self._driver.state)

    def __aiter__(self) -> Self:
        """Give the stream itself."""
        return self

    async def __anext__(self) -> RunPart:
        """Give the next part: the model's, or a note of what was decided."""
        return await self._parts.pull()

    def steer(self, message: str | UserMessage) -> bool:
        """Say something that the model hears in its next step: see `Steering.steer`.

        From another thread, use a `Steering` that was given to the run.

        Raises:
            UsageError: it is neither text nor a message, or empty.
        """
        return self._driver.steering.steer(message)

    def queue(self, message: str | UserMessage) -> bool:
        """Say something that the model hears after a final answer: see `Steering.queue`.

        From another thread, use a `Steering` that was given to the run.

        Raises:
            UsageError: it is neither text nor a message, or empty.
        """
        return self._driver.steering.queue(message)

    def cancel(self, reason: str = "cancelled", *, after_step: bool = False) -> None:
        """End the run without leaving its stream: see `CancelHandle`.

        The parts that remain can be read, the last of them is `RunEnded`. This is for who reads
        the stream; from another task, a model that says nothing is interrupted only by a
        `CancelHandle` that was given to the run.
        """
        self._driver.cancel_handle(reason, after_step=after_step)

    def text(self) -> AsyncIterator[str]:
        """Give only the text, as it comes.

        What an attempt said before it failed stays said, and the next begins anew: who can take
        it back reads the parts, and heeds `ModelRetried`.
        """
        return _Text(self._parts)

    def partial_output(self) -> AsyncIterator[PartialJson]:
        """Give the output as far as it has come, each time that it has changed.

        What is shown is certain and unchecked, but for `array_of`, whose elements are complete and
        acceptable. Each step begins anew, and so does an answer that is asked for again: the last
        value is that of the last answer. A value costs little, however long the output is.
        """
        return _Partials(self._parts, self._reader())

    def elements(self: "RunStream[tuple[T, ...]]") -> AsyncIterator[T]:
        """Give the elements of an `array_of`, one by one, each when it is complete.

        They have passed their validators; one that did not is left out. The whole output is still
        to be checked: where it is refused and asked for again, the elements of the next answer
        follow. Look at the run for what counts.

        Raises:
            UsageError: the output is no array.
        """
        reader = self._reader()
        if not isinstance(self._output.partial(), PartialElements | Unfenced):
            raise UsageError(
                f"elements: expected the output to be array_of(…), got {self._output.spec.name}: "
                "use partial_output()"
            )
        return _Elements[T](self._parts, reader)

    def _reader(self) -> AnswerReader:
        spec = self._output.spec
        return AnswerReader(self._output.partial, spec.tool, spec.result_of)

    async def run(self) -> Run[Out_co]:
        """Read the rest of the stream and give the run; after the block, the run as it ended."""
        if not self._driver.at_rest:
            async for _ in self:
                pass
        return Run(self._driver.state, self._output, self._driver.outputs)


@final
class _Partials(AsyncIterator[PartialJson]):
    def __init__(self, parts: Parts, reader: AnswerReader) -> None:
        self._parts = parts
        self._reader = reader
        self._version: tuple[int, int] | None = None

    @override
    async def __anext__(self) -> PartialJson:
        reader = self._reader
        while True:
            reader.take(await self._parts.pull())
            version = reader.version
            if version[1] and version != self._version:
                self._version = version
                return reader.value


@final
class _Elements(AsyncIterator[T]):
    def __init__(self, parts: Parts, reader: AnswerReader) -> None:
        self._parts = parts
        self._reader = reader
        self._given = (0, 0)  # of which attempt, and how many

    @override
    async def __anext__(self) -> T:
        reader = self._reader
        while True:
            attempt, given = self._given
            if attempt != reader.attempt:
                given = 0
            if given < len(reader.elements):
                self._given = (reader.attempt, given + 1)
                return cast("T", reader.elements[given])  # the output is an array of these
            reader.take(await self._parts.pull())


@final
class _Text(AsyncIterator[str]):
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @override
    async def __anext__(self) -> str:
        while True:
            part = await self._parts.pull()
            if isinstance(part, TextDelta):
                return part.delta
