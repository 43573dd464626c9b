"""A language model over HTTP: a protocol's pure codec, and the one way to every server.

A protocol is a `WireCodec` of three functions that neither wait nor ask a clock. All that
protocols have in common, from a refused request to a connection that breaks, is here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Generic, Protocol, TypeVar, final

from anyio import move_on_after
from attrs import evolve, frozen

from stepfold.loop import parts_of
from stepfold.ports import BLOCKING, ModelStream, SupportedUrls, streamed
from stepfold.providers._endpoint import ClientOptions, Dialect, Endpoint
from stepfold.providers._http_caller import (
    HttpCaller,
    WireCall,
    connections_of,
    endpoint_of,
    refuse_errors,
    secrets_of,
)
from stepfold.transport import (
    HttpConnections,
    HttpResponse,
    StreamedResponse,
    open_stream,
    send,
)
from stepfold.values import (
    Failure,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    ModelWarning,
    Outcome,
    StreamError,
    StreamPart,
    Success,
)

D = TypeVar("D", bound=Dialect)
D_contra = TypeVar("D_contra", bound=Dialect, contravariant=True)

# How long to wait for the end of a response whose last event has come, in seconds. It is
# usually there already, and a connection that was read to its end can be used again.
_PATIENCE_AT_THE_END = 0.1


class WireDecoder(Protocol):
    """Decodes one streamed reply, however the network cuts it.

    A stream that fails ends with a `StreamError`; nothing raises.
    """

    @property
    def is_done(self) -> bool:
        """Whether the last part has been given."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends: all that may still come is figures."""
        ...

    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]:
        """The parts that this chunk completes."""
        ...

    def end(self) -> tuple[StreamPart, ...]:
        """The last parts, when no more bytes come."""
        ...


class EncodeRequest(Protocol[D_contra]):
    """Encodes a request; raises `UsageError` for options that the protocol cannot take."""

    def __call__(
        self, request: ModelRequest, endpoint: Endpoint[D_contra], *, stream: bool = False
    ) -> WireCall: ...


class DecodeReply(Protocol):
    """Decodes a reply that came in one piece, with a status from 200 to 299; total."""

    def __call__(
        self,
        body: bytes,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> Outcome[ModelReply, ModelErrorReason]: ...


class MakeDecoder(Protocol):
    """Makes the decoder of one streamed reply."""

    def __call__(
        self,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> WireDecoder: ...


@final
@frozen(eq=False)
class WireCodec(Generic[D_contra]):
    """A protocol: how to ask for a reply, and how to read one."""

    encode: EncodeRequest[D_contra]
    decode: DecodeReply
    decoder: MakeDecoder


@final
class HttpModel(HttpCaller[D]):
    """A model that speaks a protocol over HTTP; a `LanguageModel`.

    It needs no closing. A run keeps its connection until it rests; `async with model:` (or `with
    model:` for runs without an event loop) keeps connections open for all runs inside the block.
    """

    def __init__(
        self, codec: WireCodec[D], endpoint: Endpoint[D], connections: HttpConnections
    ) -> None:
        super().__init__(endpoint, connections)
        self._codec = codec

    @property
    def supported_urls(self) -> SupportedUrls:
        """Which addresses of files the server fetches itself."""
        supported: dict[str, tuple[str, ...]] = {}
        for media_type, expression in self._endpoint.dialect.fetched_urls:
            supported[media_type] = (*supported.get(media_type, ()), expression)
        return supported

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Answer in one piece.

        Raises:
            ModelError: when there is no complete reply.
        """
        call = self._codec.encode(request, self._endpoint)
        call = evolve(call, request=self._signed(call.request))
        response = await send(call.request, self._connections)
        return self._reply(call, response)

    @streamed
    async def _stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart]:
        call = self._codec.encode(request, self._endpoint, stream=True)
        call = evolve(call, request=self._signed(call.request))
        async with open_stream(call.request, self._connections) as response:
            if not _is_stream(response):
                for part in parts_of(self._reply(call, await response.read())):
                    yield part
                return
            decoder = self._codec.decoder(
                self._endpoint.dialect.provider,
                headers=response.headers,
                warnings=call.warnings,
                secrets=secrets_of(call.request),
            )
            while not decoder.is_done:
                for part in await _next_parts(response.chunks, decoder):
                    if isinstance(part, StreamError):
                        raise ModelError(part.reason)
                    yield part
            await _read_to_the_end(response.chunks)

    def stream(self, request: ModelRequest, /) -> ModelStream:
        """Answer part by part.

        Raises:
            ModelError: when entered or read, when there is no complete reply.
        """
        return self._stream(request)

    def _reply(self, call: WireCall, response: HttpResponse) -> ModelReply:
        secrets = secrets_of(call.request)
        refuse_errors(response, secrets)
        outcome = self._codec.decode(
            response.body,
            self._endpoint.dialect.provider,
            headers=response.headers,
            warnings=call.warnings,
            secrets=secrets,
        )
        match outcome:
            case Success(reply):
                return reply
            case Failure(reason):
                raise ModelError(reason)


def http_model(
    codec: WireCodec[D],
    model_id: str,
    dialect: D,
    *,
    base_url: str,
    headers: Mapping[str, str | None],
    options: ClientOptions,
) -> HttpModel[D]:
    """Make a model; headers that are `None` are left out, and those of the options win.

    Raises:
        UsageError: the address is not one of http or https.
    """
    endpoint = endpoint_of(model_id, dialect, base_url=base_url, headers=headers, options=options)
    return HttpModel(codec, endpoint, connections_of(options))


def _is_stream(response: StreamedResponse) -> bool:
    """Whether to read events; some servers answer a request for a stream in one piece."""
    if not 200 <= response.status < 300:
        return False
    kind = response.header("content-type") or ""
    return not ("json" in kind or "html" in kind)


async def _next_parts(chunks: AsyncIterator[bytes], decoder: WireDecoder) -> tuple[StreamPart, ...]:
    try:
        chunk = await anext(chunks, None)
    except ModelError:
        # The connection broke after the reply had said why it ends: nothing of it is missing.
        if not decoder.is_whole:
            raise
        chunk = None
    return decoder.end() if chunk is None else decoder.feed(chunk)


async def _read_to_the_end(chunks: AsyncIterator[bytes]) -> None:
    if BLOCKING.get():
        return
    with move_on_after(_PATIENCE_AT_THE_END):
        try:
            async for _ in chunks:
                pass
        except ModelError:
            return
