"""A language model that says what it was told to say."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import TypeAlias, final

from attrs import evolve, frozen

from stepfold.loop import fold_parts, parts_of
from stepfold.ports import SupportedUrls, streamed
from stepfold.values import (
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    UsageError,
)

Answer: TypeAlias = ModelReply | ModelError | ModelErrorReason | Sequence[StreamPart]
"""What a model answers: a reply, a failure that is raised, or exactly these parts."""

AnswerFunction: TypeAlias = Callable[[ModelRequest], Answer | Awaitable[Answer]]
"""An answer that depends on what is asked; it may be async, to take its time or to hang."""

Scripted: TypeAlias = Answer | AnswerFunction
"""One item of a script."""


@final
@frozen(order=False)
class RequestPosition:
    """Where in a run a request was made, read from its key (`run/step/total`)."""

    run: str
    step: int
    total: int


def position_in(key: str) -> RequestPosition | None:
    """Read the key of a request; `None` if it is not one that the loop made."""
    run, step, total = ("", "", *key.rsplit("/", 2))[-3:]
    if not run or not step.isdecimal() or not total.isdecimal():
        return None
    return RequestPosition(run, int(step), int(total))


@final
class ScriptedModel:
    """A `LanguageModel` that answers from a script, in order, in each run anew.

    The n-th request of a run gets the n-th item. A request that is made again (its `key` is the
    same: a run that was taken up again, or driven another time) gets the same item again, so
    the answers depend on what is asked and not on who asks first. With `by_step`, the item is
    found from the key alone: failures use up attempts, anything else a step; use it where a run
    is taken up by a new model object, and not where several models share a run.

    `supported_urls` is what it says of the files that its provider fetches; nothing by default.
    `stream` sends a reply as one block a part, or in pieces of `chunk_size` characters. Requests
    without a key are counted as one run.

    Raises:
        UsageError: an item is nothing that can be answered, or the chunk size is not positive.
    """

    def __init__(
        self,
        replies: Sequence[Scripted],
        *,
        provider: str = "scripted",
        model_id: str = "model",
        chunk_size: int | None = None,
        by_step: bool = False,
        supported_urls: SupportedUrls | None = None,
    ) -> None:
        if chunk_size is not None and chunk_size < 1:
            msg = f"chunk_size: expected a number of characters from 1, got {chunk_size!r}"
            raise UsageError(msg)
        self._replies: tuple[Scripted, ...] = tuple(replies)
        for index, item in enumerate(self._replies):
            if not callable(item):
                _require_answer(item, f"replies[{index}]")
        self._provider = provider
        self._model_id = model_id
        self._chunk_size = chunk_size
        self._by_step = by_step
        self._supported_urls = supported_urls
        self._requests: list[ModelRequest] = []
        self._asked: set[int] = set()
        self._failed: set[int] = set()
        self._runs: dict[str, dict[tuple[int, int], int]] = {}
        self._unnamed = 0

    @property
    def provider(self) -> str:
        """Who is said to run the model."""
        return self._provider

    @property
    def model_id(self) -> str:
        """What the model is called."""
        return self._model_id

    @property
    def supported_urls(self) -> SupportedUrls | None:
        """Which addresses of files its provider is said to fetch itself."""
        return self._supported_urls

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """Every request that was made, in the order of asking."""
        return tuple(self._requests)

    @property
    def unused(self) -> tuple[Scripted, ...]:
        """The items of the script that nobody has asked for."""
        return tuple(item for i, item in enumerate(self._replies) if i not in self._asked)

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Answer in one piece.

        Raises:
            ModelError: the script says so, or its parts are no whole reply.
            UsageError: the script has no more replies.
        """
        answer = await self._answer(request)
        return answer if isinstance(answer, ModelReply) else fold_parts(answer)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        """Answer part by part; raises as `generate` does, before the first part."""
        answer = await self._answer(request)
        parts = self._in_chunks(answer) if isinstance(answer, ModelReply) else answer
        for part in parts:
            yield part

    async def _answer(self, request: ModelRequest) -> ModelReply | Sequence[StreamPart]:
        self._requests.append(request)
        place = self._place(request)
        if place >= len(self._replies):
            raise UsageError(self._exhausted(request, place))
        self._asked.add(place)
        item = self._replies[place]
        try:
            answer = await _asked(item, request, f"replies[{place}]") if callable(item) else item
            if isinstance(answer, ModelErrorReason):
                raise ModelError(answer)
            if isinstance(answer, ModelError):
                # Raised anew: one exception would gather the tracebacks of all attempts.
                raise ModelError(answer.reason)
        except ModelError:
            self._failed.add(place)
            raise
        return answer

    def _place(self, request: ModelRequest) -> int:
        """Which item of the script this request gets."""
        at = position_in(request.key)
        if at is None:
            self._unnamed += 1
            return self._unnamed - 1
        if self._by_step:
            return self._start_of(at.step) + at.total
        places = self._runs.setdefault(at.run, {})
        return places.setdefault((at.step, at.total), len(places))

    def _start_of(self, step: int) -> int:
        """The first item of a step: the one after as many items that are no failures."""
        place = 0
        for _ in range(step):
            while place < len(self._replies) and self._fails(place):
                place += 1
            place += 1
        return place

    def _fails(self, place: int) -> bool:
        item = self._replies[place]
        if callable(item):
            return place in self._failed
        if isinstance(item, ModelReply):
            return False
        if isinstance(item, ModelError | ModelErrorReason):
            return True
        try:
            fold_parts(item)
        except ModelError:
            return True
        return False

    def _exhausted(self, request: ModelRequest, place: int) -> str:
        name = f"{self._provider}/{self._model_id}"
        at = position_in(request.key)
        where = "" if at is None else f" (step {at.step}, attempt {at.total} of run {at.run!r})"
        last = repr(request.messages[-1]) if request.messages else "no message"
        return (
            f"{name}: expected at most {len(self._replies)} requests, got number {place + 1}"
            f"{where}, whose last message is {last[:300]}: add a reply to the script, or stop "
            "the run earlier"
        )

    def _in_chunks(self, reply: ModelReply) -> Sequence[StreamPart]:
        parts = parts_of(reply)
        size = self._chunk_size
        if size is None:
            return parts
        chunks: list[StreamPart] = []
        for part in parts:
            match part:
                case TextDelta() | ReasoningDelta():
                    chunks += [evolve(part, delta=piece) for piece in _pieces(part.delta, size)]
                case ToolCall(call_id, name, text) if call_id and not part.provider_executed:
                    chunks.append(ToolInputStart(call_id, name, dynamic=part.dynamic))
                    chunks += [ToolInputDelta(call_id, piece) for piece in _pieces(text, size)]
                    chunks += [ToolInputEnd(call_id), part]
                case _:
                    chunks.append(part)
        return chunks


async def _asked(function: AnswerFunction, request: ModelRequest, where: str) -> Answer:
    answer = function(request)
    if isawaitable(answer):
        answer = await answer
    _require_answer(answer, where)
    return answer


def _require_answer(item: object, where: str) -> None:
    if isinstance(item, ModelReply | ModelError | ModelErrorReason):
        return
    if isinstance(item, Sequence) and not isinstance(item, str | bytes):
        return
    msg = (
        f"{where}: expected a ModelReply (see `reply`), a ModelError, a ModelErrorReason, a "
        f"sequence of stream parts or a function of the request, got {item!r:.200}"
    )
    raise UsageError(msg)


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
