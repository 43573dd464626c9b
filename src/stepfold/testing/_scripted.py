"""A language model that says what it was told to say."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from inspect import isawaitable
from types import TracebackType
from typing import Self, TypeAlias, final

from attrs import evolve, frozen

from stepfold.codec import encode_part
from stepfold.loop import parts_of
from stepfold.ports import SupportedUrls, streamed
from stepfold.shell import ReplyWatch
from stepfold.testing._divergence import Divergence, distance_between
from stepfold.testing._exchange import Exchange
from stepfold.testing._fingerprint import fingerprint_of, standard_form
from stepfold.transport import without_secrets
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

Scripted: TypeAlias = Answer | AnswerFunction | Exchange
"""One item of a script: an answer to whatever is asked next, or to one request alone."""


@final
class ScriptDiverged(UsageError):
    """A `ScriptedModel` was asked what no exchange of its script answers.

    `place` is the index of the closest exchange in the script, and `divergence` the first
    difference between its request and this one; `None` if the requests are equal, and the exchange
    was used up.
    """

    __module__ = "stepfold.testing"

    def __init__(self, message: str, place: int, divergence: Divergence | None) -> None:
        super().__init__(message)
        self.place: int = place
        self.divergence: Divergence | None = divergence


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
class _Told:
    """What one run has been told of a script."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, int, str], int] = {}
        self.taken: set[int] = set()
        self.in_order = 0


@final
class ScriptedModel:
    """A `LanguageModel` that answers from a script, in each run anew.

    An `Exchange` answers its own request and no other, in whatever order they come: a request is
    known by its fingerprint, and one that occurs several times gets the exchanges in their order.
    What no exchange answers takes the next of the other items, and where there is none left, an
    error shows at what the closest exchange diverges.

    Each run begins the script anew: the n-th request of a run gets the n-th item. A request that is
    made again (its `key` is the same: a run that was taken up again, or driven another time) gets
    the same item again, so the answers depend on what is asked and not on who asks first. With
    `by_step`, the item is found from the key alone: failures use up attempts, anything else a step;
    use it where a run is taken up by a new model object, and not where several models share a run.

    `supported_urls` is what it says of the files that its provider fetches; nothing by default.
    `stream` sends parts exactly as the script has them, and a reply as one block a part, or in
    pieces of `chunk_size` characters. Requests without a key are counted as one run.

    As a context manager it checks at the end of its block that all was asked for, as
    `assert_exhausted` does:

        with ScriptedModel([reply("Hello.")]) as model:
            await Agent(model=model).generate("Hi")

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
            if not callable(item) and not isinstance(item, Exchange):
                _require_answer(item, f"replies[{index}]")
        tied = sum(isinstance(item, Exchange) for item in self._replies)
        if by_step and 0 < tied < len(self._replies):
            msg = f"by_step: expected exchanges alone or none of them, got {tied} among others"
            raise UsageError(msg)
        self._provider = provider
        self._model_id = model_id
        self._chunk_size = chunk_size
        self._by_step = by_step
        self._supported_urls = supported_urls
        self._requests: list[ModelRequest] = []
        self._asked: set[int] = set()
        self._failed: set[int] = set()
        self._runs: dict[str, _Told] = {}
        self._unnamed = 0
        self._tied: dict[str, list[int]] = {}
        self._in_order: list[int] = []
        for index, item in enumerate(self._replies):
            if isinstance(item, Exchange):
                self._tied.setdefault(item.fingerprint, []).append(index)
            else:
                self._in_order.append(index)

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

    def assert_exhausted(self) -> None:
        """Check that somebody, in whatever run, asked for every item of the script.

        Raises:
            AssertionError: names those that nobody asked for.
        """
        rest = [index for index in range(len(self._replies)) if index not in self._asked]
        if not rest:
            return
        lines = [f"  replies[{index}]: {_in_a_line(self._replies[index])}" for index in rest[:10]]
        if len(rest) > 10:
            lines.append(f"  and {len(rest) - 10} more")
        head = (
            f"{self._name}: expected every item of the script to be asked for, got "
            f"{len(self._requests)} requests that left {len(rest)} of {len(self._replies)}:"
        )
        raise AssertionError("\n".join((head, *lines)))

    def __enter__(self) -> Self:
        """Begin a block at whose end the script must be exhausted."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """End the block; an error that leaves it is left alone.

        Raises:
            AssertionError: as `assert_exhausted` does.
        """
        if kind is None:
            self.assert_exhausted()

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Answer in one piece.

        Raises:
            ModelError: the script says so, or its parts are no whole reply.
            ScriptDiverged: no exchange of the script answers this, nor is another item left.
            UsageError: the script has no more replies.
        """
        answer = await self._answer(request)
        return answer if isinstance(answer, ModelReply) else folded(answer)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        """Answer part by part; raises as `generate` does, before the first part."""
        answer = await self._answer(request)
        parts = self._in_chunks(answer) if isinstance(answer, ModelReply) else answer
        for part in parts:
            yield part

    @property
    def _name(self) -> str:
        return f"{self._provider}/{self._model_id}"

    async def _answer(self, request: ModelRequest) -> ModelReply | Sequence[StreamPart]:
        self._requests.append(request)
        place = self._place(request)
        self._asked.add(place)
        item = self._replies[place]
        try:
            answer = await self._answered(place, item, request)
            if isinstance(answer, ModelErrorReason):
                raise ModelError(answer)
            if isinstance(answer, ModelError):
                # Raised anew: one exception would gather the tracebacks of all attempts.
                raise ModelError(answer.reason)
        except ModelError:
            self._failed.add(place)
            raise
        return answer

    @staticmethod
    async def _answered(place: int, item: Scripted, request: ModelRequest) -> Answer:
        if isinstance(item, Exchange):
            return item.answer
        return await _asked(item, request, f"replies[{place}]") if callable(item) else item

    def _place(self, request: ModelRequest) -> int:
        """Which item of the script this request gets."""
        at = position_in(request.key)
        fingerprint = fingerprint_of(request) if self._tied else ""
        tied = self._tied.get(fingerprint, ())
        if self._by_step and at is not None:
            if self._tied:
                return self._item(request, tied, at.total)
            return self._item(request, self._in_order, self._start_of(at.step) + at.total)
        told = self._runs.setdefault("" if at is None else at.run, _Told())
        position = (*((self._unnamed, 0) if at is None else (at.step, at.total)), fingerprint)
        self._unnamed += at is None
        if position in told.places:
            return told.places[position]
        place = next((place for place in tied if place not in told.taken), None)
        if place is None:
            place = self._item(request, self._in_order, told.in_order)
            told.in_order += 1
        told.taken.add(place)
        told.places[position] = place
        return place

    def _item(self, request: ModelRequest, places: Sequence[int], number: int) -> int:
        """The place of this number.

        Raises:
            UsageError: there are fewer.
        """
        if number < len(places):
            return places[number]
        raise self._diverged(request) if self._tied else UsageError(self._exhausted(request))

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
        if isinstance(item, ModelReply):
            return False
        if isinstance(item, ModelError | ModelErrorReason):
            return True
        if isinstance(item, Exchange) or callable(item):
            return place in self._failed
        try:
            folded(item)
        except ModelError:
            return True
        return False

    def _exhausted(self, request: ModelRequest) -> str:
        return (
            f"{self._name}: expected at most {len(self._replies)} requests in a run, got one more"
            f"{_where(request)}, whose last message is {_last_of(request)}: add a reply to the "
            "script, or stop the run earlier"
        )

    def _diverged(self, request: ModelRequest) -> ScriptDiverged:
        """Tell what is asked from the closest exchange of the script."""
        asked = standard_form(request)
        distances = {
            place: distance_between(item.request, asked)
            for place, item in enumerate(self._replies)
            if isinstance(item, Exchange)
        }
        closest = min(distances, key=lambda place: (distances[place].rank, place))
        first = distances[closest].first
        if first is None:
            places = self._tied[fingerprint_of(request)]
            known = ", ".join(f"replies[{place}]" for place in places)
            told = f"{known} did so, and it is asked once more than that in this run"
        else:
            told = f"the closest script diverges here: replies[{closest}], {first}"
        message = (
            f"{self._name}: no exchange of the script answers the request{_where(request)}; "
            f"{told}. Ask what was recorded, or record the script anew"
        )
        return ScriptDiverged(message, closest, first)

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


def folded(parts: Iterable[StreamPart]) -> ModelReply:
    """The whole reply; ids of calls that are blank or taken stay without a name, as in a stream.

    Raises:
        ModelError: the parts are none.
    """
    watch = ReplyWatch()
    for part in parts:
        watch.see(part)
    return watch.reply()


def _where(request: ModelRequest) -> str:
    at = position_in(request.key)
    return "" if at is None else f" (step {at.step}, attempt {at.total} of run {at.run!r})"


def _last_of(request: ModelRequest) -> str:
    """The last message of a request in a line, without secrets."""
    messages = standard_form(request).messages
    return encode_part(messages[-1])[:300] if messages else "none"


def _in_a_line(item: Scripted) -> str:
    """An item of a script in a line."""
    if isinstance(item, Exchange):
        return f"the answer to {_last_of(item.request)}"[:200]
    told = encode_part(item) if isinstance(item, ModelReply | ModelErrorReason) else repr(item)
    return without_secrets(told)[:200]


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
        f"sequence of stream parts, a function of the request or an Exchange, got {item!r:.200}"
    )
    raise UsageError(msg)


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]
