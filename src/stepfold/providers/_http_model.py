"""A language model over HTTP: a protocol's pure codec, and the one way to every server.

A protocol is a `WireCodec` of three functions that neither wait nor ask a clock. All that
protocols have in common, from a refused request to a connection that breaks, is here.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar, final

from anyio import move_on_after
from attrs import frozen
from typing_extensions import override

from stepfold.loop import parts_of
from stepfold.ports import BLOCKING, ModelStream, SupportedUrls, streamed
from stepfold.providers._endpoint import ClientOptions, Dialect, Endpoint, checked_address
from stepfold.providers._failures import reason_of_response
from stepfold.transport import (
    BlockingHttpClient,
    HttpClient,
    HttpConnections,
    HttpLimits,
    HttpRequest,
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
_SHORTEST_SECRET = 8


@final
@frozen(order=False)
class WireCall:
    """What goes on the wire, and what of the request could not be said there."""

    request: HttpRequest
    warnings: tuple[ModelWarning, ...] = ()


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
class HttpModel(Generic[D]):
    """A model that speaks a protocol over HTTP; a `LanguageModel`.

    It needs no closing. A run keeps its connection until it rests; `async with model:` (or `with
    model:` for runs without an event loop) keeps connections open for all runs inside the block.
    """

    def __init__(
        self,
        codec: WireCodec[D],
        endpoint: Endpoint[D],
        *,
        client: HttpClient | None = None,
        blocking_client: BlockingHttpClient | None = None,
        limits: HttpLimits | None = None,
    ) -> None:
        self._codec = codec
        self._endpoint = endpoint
        self._connections = HttpConnections(client, blocking_client=blocking_client, limits=limits)

    @property
    def provider(self) -> str:
        """Who runs the model: the key of its `provider_options`."""
        return self._endpoint.dialect.provider

    @property
    def model_id(self) -> str:
        """What the provider calls the model."""
        return self._endpoint.model_id

    @property
    def supported_urls(self) -> SupportedUrls:
        """Which addresses of files the server fetches itself."""
        supported: dict[str, tuple[str, ...]] = {}
        for media_type, expression in self._endpoint.dialect.fetched_urls:
            supported[media_type] = (*supported.get(media_type, ()), expression)
        return supported

    @property
    def endpoint(self) -> Endpoint[D]:
        """Where the model is, and its dialect."""
        return self._endpoint

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Answer in one piece.

        Raises:
            ModelError: when there is no complete reply.
        """
        call = self._codec.encode(request, self._endpoint)
        response = await send(call.request, self._connections)
        return self._reply(call, response)

    @streamed
    async def _stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart]:
        call = self._codec.encode(request, self._endpoint, stream=True)
        async with open_stream(call.request, self._connections) as response:
            if not _is_stream(response):
                for part in parts_of(self._reply(call, await response.read())):
                    yield part
                return
            decoder = self._codec.decoder(
                self.provider,
                headers=response.headers,
                warnings=call.warnings,
                secrets=_secrets(call.request),
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
        secrets = _secrets(call.request)
        if not 200 <= response.status < 300:
            reason = reason_of_response(response, now=time.time_ns(), secrets=secrets)
            raise ModelError(reason)
        outcome = self._codec.decode(
            response.body,
            self.provider,
            headers=response.headers,
            warnings=call.warnings,
            secrets=secrets,
        )
        match outcome:
            case Success(reply):
                return reply
            case Failure(reason):
                raise ModelError(reason)

    async def __aenter__(self) -> Self:
        """Keep connections open on this event loop until the block is left."""
        await self._connections.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close what was kept."""
        await self._connections.__aexit__(kind, error, traceback)

    def __enter__(self) -> Self:
        """Keep connections of runs without an event loop open until the block is left."""
        self._connections.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close what was kept."""
        self._connections.__exit__(kind, error, traceback)

    @override
    def __repr__(self) -> str:
        return f"<HttpModel {self.provider}/{self.model_id} at {self._endpoint.base_url}>"


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
    own = {name: value for name, value in headers.items() if value is not None}
    given = {name.lower(): value for name, value in (options.get("headers") or {}).items()}
    endpoint = Endpoint(
        model_id=model_id,
        base_url=checked_address(base_url),
        headers=tuple((own | given).items()),
        dialect=dialect,
    )
    return HttpModel(
        codec,
        endpoint,
        client=options.get("client"),
        blocking_client=options.get("blocking_client"),
        limits=options.get("limits"),
    )


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


def _secrets(request: HttpRequest) -> tuple[str, ...]:
    """Header values that must not come back in a message: keys, with and without their scheme."""
    return tuple(
        secret
        for name, value in request.headers
        if name not in {"content-type", "accept", "user-agent"}
        for secret in (value, value.rpartition(" ")[2])
        if len(secret) >= _SHORTEST_SECRET
    )
