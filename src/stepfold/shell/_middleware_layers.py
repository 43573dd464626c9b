"""What middleware is made of: models that change the request, or read the reply, of another.

A layer keeps the names of the model that it wraps, and opens nothing of its own: leaving a stream
early closes the inner one at once.
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Final, TypeAlias, final

from attrs import evolve, frozen
from typing_extensions import override

from stepfold.loop import ReplyFold, parts_of
from stepfold.ports import (
    LanguageModel,
    Middleware,
    ModelStream,
    SupportedUrls,
    compose,
    streamed,
    supported_urls_of,
)
from stepfold.values import (
    ApprovalRequest,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Ping,
    ReplyPart,
    StreamPart,
    ToolCall,
    ToolError,
    ToolResult,
)

PartReader: TypeAlias = Callable[[StreamPart], Iterable[StreamPart]]
"""Takes the parts of one reply in order, and gives for each those that it makes certain."""


@frozen(eq=False)
class Layer:
    """What all layers say of the model that they wrap: its names, and what it says of itself."""

    inner: LanguageModel

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    @property
    def async_only(self) -> bool:
        return bool(getattr(self.inner, "async_only", False))

    @property
    def supported_urls(self) -> SupportedUrls | None:
        return supported_urls_of(self.inner)


_UNNAMED: Final = "\0unnamed-"


@final
class ReplyWatch:
    """Folds the parts of a reply that pass by; a fault in them is for their reader to find.

    Ids of calls that are blank or taken stay without a name: it is the run that names them, the
    same whether the reply was streamed or not.
    """

    def __init__(self) -> None:
        self._fold: Final = ReplyFold(fresh=lambda number: f"{_UNNAMED}{number}")
        self._fault: ModelErrorReason | None = None

    def see(self, part: StreamPart) -> None:
        """Take the next part."""
        if self._fault is None:
            try:
                self._fold.add(part)
            except ModelError as error:
                self._fault = error.reason

    def reply(self) -> ModelReply:
        """The whole reply.

        Raises:
            ModelError: the parts are none.
        """
        if self._fault is not None:
            raise ModelError(self._fault)
        reply = self._fold.reply()
        return evolve(reply, content=tuple(map(_as_said, reply.content)))

    def seen(self) -> ModelReply | ModelErrorReason:
        """The whole reply, or why there is none."""
        try:
            return self.reply()
        except ModelError as error:
            return error.reason


def _as_said(part: ReplyPart) -> ReplyPart:
    match part:
        case ToolCall(call_id) if call_id.startswith(_UNNAMED):
            return evolve(part, tool_call_id="")
        case ToolResult(call_id) if call_id.startswith(_UNNAMED):
            return evolve(part, tool_call_id="")
        case ToolError(call_id) if call_id.startswith(_UNNAMED):
            return evolve(part, tool_call_id="")
        case ApprovalRequest(_, call_id) if call_id.startswith(_UNNAMED):
            return evolve(part, tool_call_id="")
        case _:
            return part


@final
@frozen(eq=False)
class RequestLayer(Layer):
    """Asks the inner model something else."""

    change: Callable[[ModelRequest], ModelRequest]

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return await self.inner.generate(self.change(request))

    def stream(self, request: ModelRequest, /) -> ModelStream:
        return self.inner.stream(self.change(request))


@final
@frozen(eq=False)
class ReadingLayer(Layer):
    """Reads the parts of each reply anew; `reader` makes what reads one reply.

    Generating is a fold of what streaming would have shown, so the two cannot differ.
    """

    reader: Callable[[], PartReader]

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        reply = await self.inner.generate(request)
        read = self.reader()
        watch = ReplyWatch()
        for part in parts_of(reply):
            for piece in read(part):
                watch.see(piece)
        return watch.reply()

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        read = self.reader()
        async with self.inner.stream(request) as parts:
            async for part in parts:
                for piece in read(part):
                    yield piece


@final
@frozen(eq=False)
class _ReplyLayer(Layer):
    """Changes whole replies."""

    change: Callable[[ModelReply], ModelReply]

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        # Folded first, so that the function sees what it would see of a stream.
        watch = ReplyWatch()
        for part in parts_of(await self.inner.generate(request)):
            watch.see(part)
        return self.change(watch.reply())

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        watch = ReplyWatch()
        async with self.inner.stream(request) as parts:
            async for part in parts:
                watch.see(part)
                if isinstance(part, Ping):
                    yield part
        for part in parts_of(self.change(watch.reply())):
            yield part


@final
@frozen(eq=False)
class _GeneratingLayer(Layer):
    """Streams by generating."""

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return await self.inner.generate(request)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        for part in parts_of(await self.inner.generate(request)):
            yield part


@final
@frozen(eq=False)
class _RenamedModel(Layer):
    """A model under another name."""

    own_provider: str | None
    own_model_id: str | None

    @property
    @override
    def provider(self) -> str:
        return self.inner.provider if self.own_provider is None else self.own_provider

    @property
    @override
    def model_id(self) -> str:
        return self.inner.model_id if self.own_model_id is None else self.own_model_id

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return await self.inner.generate(request)

    def stream(self, request: ModelRequest, /) -> ModelStream:
        return self.inner.stream(request)


def map_request(function: Callable[[ModelRequest], ModelRequest], /) -> Middleware:
    """Make a middleware of a function that changes what a model is asked.

    It should be pure: a call that is made again is changed again.
    """
    return lambda model: RequestLayer(model, function)


def map_reply(function: Callable[[ModelReply], ModelReply], /) -> Middleware:
    """Make a middleware of a function that changes what a model answers.

    The function sees whole replies only. So a streamed reply is held back until it is complete,
    and comes with each block in one piece; pings pass at once.
    """
    return lambda model: _ReplyLayer(model, function)


def simulate_streaming() -> Middleware:
    """Stream by generating: the reply comes when it is complete, each block in one piece.

    For models and servers that cannot stream, or do it badly.
    """
    return _GeneratingLayer


def wrap_language_model(
    model: LanguageModel,
    /,
    *middleware: Middleware,
    model_id: str | None = None,
    provider: str | None = None,
) -> LanguageModel:
    """Put middleware around a model, first listed outermost, and give it another name if wanted.

    Args:
        model: The model that is asked in the end.
        middleware: What is put around it.
        model_id: What the wrapped model is called; by default as the middleware says.
        provider: Who is said to run it; by default as the middleware says.
    """
    wrapped = compose(*middleware)(model)
    if model_id is None and provider is None:
        return wrapped
    return _RenamedModel(wrapped, provider, model_id)
