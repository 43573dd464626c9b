"""A model of the Responses protocol: the codec, and a thin way to the server."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import Self, final

from anyio import move_on_after
from typing_extensions import override

from stepfold.loop import parts_of
from stepfold.ports import BLOCKING, ModelStream, streamed
from stepfold.providers._failures import reason_of_response
from stepfold.providers.openai_responses._encode import ResponsesCall, encode_request
from stepfold.providers.openai_responses._options import ResponsesOptions
from stepfold.providers.openai_responses._reply import decode_reply
from stepfold.providers.openai_responses._stream import ResponsesStreamDecoder
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
    ModelReply,
    ModelRequest,
    StreamError,
    StreamPart,
    Success,
)

# How long to wait for the end of a response whose last event has come, in seconds. It is
# usually there already, and a connection that was read to its end can be used again.
_PATIENCE_AT_THE_END = 0.1
_SHORTEST_SECRET = 8


@final
class OpenAIResponsesModel:
    """A model that speaks OpenAI's Responses protocol; a `LanguageModel`.

    It needs no closing. A run keeps its connection until it rests; `async with model:` (or `with
    model:` for runs without an event loop) keeps connections open for all runs inside the block.
    """

    def __init__(
        self,
        options: ResponsesOptions,
        *,
        client: HttpClient | None = None,
        blocking_client: BlockingHttpClient | None = None,
        limits: HttpLimits | None = None,
    ) -> None:
        self._options = options
        self._connections = HttpConnections(client, blocking_client=blocking_client, limits=limits)

    @property
    def provider(self) -> str:
        """Who runs the model: the key of its `provider_options`."""
        return self._options.dialect.provider

    @property
    def model_id(self) -> str:
        """What the provider calls the model."""
        return self._options.model_id

    @property
    def options(self) -> ResponsesOptions:
        """Where the model is, and its dialect."""
        return self._options

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Answer in one piece.

        Raises:
            ModelError: when there is no complete reply.
        """
        call = encode_request(request, self._options)
        response = await send(call.request, self._connections)
        return self._reply(call, response)

    @streamed
    async def _stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart]:
        call = encode_request(request, self._options, stream=True)
        async with open_stream(call.request, self._connections) as response:
            if not _is_event_stream(response):
                for part in parts_of(self._reply(call, await response.read())):
                    yield part
                return
            decoder = ResponsesStreamDecoder(
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

    def _reply(self, call: ResponsesCall, response: HttpResponse) -> ModelReply:
        secrets = _secrets(call.request)
        if not 200 <= response.status < 300:
            reason = reason_of_response(response, now=time.time_ns(), secrets=secrets)
            raise ModelError(reason)
        outcome = decode_reply(
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
        return f"<OpenAIResponsesModel {self.provider}/{self.model_id} at {self._options.base_url}>"


def _is_event_stream(response: StreamedResponse) -> bool:
    """Whether to read events; some servers answer a request for a stream in one piece."""
    if not 200 <= response.status < 300:
        return False
    kind = response.header("content-type") or ""
    return not ("json" in kind or "html" in kind)


async def _next_parts(
    chunks: AsyncIterator[bytes], decoder: ResponsesStreamDecoder
) -> tuple[StreamPart, ...]:
    chunk = await anext(chunks, None)
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
