"""A real run becomes a script: a model that writes down what another one answers."""

from collections.abc import AsyncGenerator
from typing import final

from stepfold.ports import LanguageModel, streamed
from stepfold.testing._around import Around
from stepfold.testing._exchange import Exchange, PlainAnswer
from stepfold.values import ModelError, ModelReply, ModelRequest, StreamError, StreamPart


@final
class ScriptRecorder(Around):
    """A `LanguageModel` that asks another one, and keeps each request with its answer.

        recorder = ScriptRecorder(model)
        await Agent(model=recorder, tools=tools).generate("Is it warm in Oslo?")
        write_script(recorder.script, "weather.json")

    It changes nothing of what passes. Of a stream it keeps exactly the parts, as far as they were
    read, and behind them the failure at which it broke off, as a `StreamError`; of a failure it
    keeps the reason. Headers of requests and what looks like a key are not kept (`standard_form`).
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._kept: list[tuple[ModelRequest, PlainAnswer | list[StreamPart] | None]] = []

    @property
    def script(self) -> tuple[Exchange, ...]:
        """What was asked and answered so far, in the order of asking: a `ScriptedModel` takes it.

        Not in it is what was given up before there was an answer, and what raised something else
        than a `ModelError`: that is a fault in the model's own code.
        """
        return tuple(
            Exchange(request, answer) for request, answer in self._kept if answer is not None
        )

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Ask for a whole reply.

        Raises:
            ModelError: the model does.
        """
        place = self._asked(request)
        try:
            reply = await self._model.generate(request)
        except ModelError as error:
            self._kept[place] = (request, error.reason)
            raise
        self._kept[place] = (request, reply)
        return reply

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        """Ask for a reply part by part; raises as the model does."""
        place = self._asked(request)
        parts: list[StreamPart] = []
        try:
            async with self._model.stream(request) as answer:
                async for part in answer:
                    parts.append(part)
                    self._kept[place] = (request, parts)
                    yield part
            self._kept[place] = (request, parts)
        except ModelError as error:
            broken = [*parts, StreamError(error.reason)]
            self._kept[place] = (request, broken if parts else error.reason)
            raise

    def _asked(self, request: ModelRequest) -> int:
        self._kept.append((request, None))
        return len(self._kept) - 1
