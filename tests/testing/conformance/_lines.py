"""A model over a protocol of JSON lines, sound or with one fault of a kind that providers have."""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, final

from typing_extensions import TypeIs

from stepfold.ports import streamed
from stepfold.providers import ClientOptions
from stepfold.transport import (
    HttpConnections,
    HttpLimits,
    HttpRequest,
    HttpResponse,
    StreamedResponse,
    open_stream,
    send,
    without_secrets,
)
from stepfold.values import (
    Finish,
    FinishReason,
    ModelError,
    ModelErrorKind,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    Usage,
)

FAULTS: Final = (
    "splits characters",
    "takes a cut for the end",
    "says what was cut",
    "raises for what is missing",
    "shows the key",
    "forgets when to try again",
    "takes a refusal for a reply",
    "counts otherwise in streams",
    "puts the key into the address",
    "counts its requests",
    "reads without a limit",
    "swallows a cancellation",
    "leaves the response open",
    "knows one event loop",
)
_KINDS: dict[int, ModelErrorKind] = {
    401: "authentication",
    403: "permission",
    404: "not-found",
    429: "rate-limit",
}
_NUMBERS: Final = itertools.count()


def is_object(value: object) -> TypeIs[Mapping[str, object]]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def violation(message: str) -> ModelError:
    """A reply that is none."""
    return ModelError(ModelErrorReason("protocol", message))


@final
class LinesModel:
    """Reads `{"say": …}` and, at the end, `{"end": …, "tokens": …}`."""

    provider = "lines"
    model_id = "m"
    async_only = True

    def __init__(self, options: ClientOptions, fault: str = "") -> None:
        limits = options.get("limits")
        if fault == "reads without a limit":
            limits = HttpLimits(read=0.05, response_bytes=1_000_000)
        self.fault = fault
        self.key = options.get("api_key") or ""
        self.connections = HttpConnections(options.get("client"), limits=limits)

    def request(self, request: ModelRequest, *, stream: bool) -> HttpRequest:
        """Say it all as text."""
        body: dict[str, object] = {"stream": stream, "said": repr(request.messages)}
        url = "https://lines.example/v1"
        if self.fault == "counts its requests":
            body["number"] = next(_NUMBERS)
        if self.fault == "puts the key into the address":
            url += f"?key={self.key}"
        headers = (("authorization", f"Bearer {self.key}"),)
        return HttpRequest("POST", url, headers, json.dumps(body).encode())

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Answer in one piece."""
        response = await send(self.request(request, stream=False), self.connections)
        self.refuse(response)
        value = self.read(response.body)
        said, end = self.said(value), value.get("end")
        if end is None:
            raise violation("the body does not say why it ends")
        return ModelReply((Text(said),), self.finish(end), self.usage(value.get("tokens")))

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        """Answer part by part."""
        call = self.request(request, stream=True)
        opened = open_stream(call, self.connections)
        if self.fault == "leaves the response open":
            async for part in self.parts(await opened.__aenter__()):
                yield part
            return
        async with opened as response, aclosing(self.parts(response)) as parts:
            async for part in parts:
                yield part

    async def parts(self, response: StreamedResponse) -> AsyncGenerator[StreamPart]:
        """The parts of a stream."""
        if response.status >= 400:
            self.refuse(await response.read())
        if self.fault == "knows one event loop":
            await asyncio.sleep(0)
        yield StreamStart()
        yield TextStart("0")
        rest = b""
        while chunk := await self.chunk(response):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in filter(None, lines):
                value = self.read(line)
                if (end := value.get("end")) is None:
                    yield TextDelta("0", self.said(value))
                    continue
                yield TextEnd("0")
                yield Finish(self.finish(end), self.usage(value.get("tokens"), is_streamed=True))
                return
        if self.fault == "says what was cut":
            yield TextDelta("0", rest.decode("utf-8", "replace"))
        if self.fault != "takes a cut for the end":
            raise violation("the stream ended without an end")
        yield TextEnd("0")
        yield Finish(FinishReason("stop", "stop"))

    async def chunk(self, response: StreamedResponse) -> bytes:
        """The next bytes; none at the end."""
        try:
            chunk = await anext(response.chunks, b"")
        except BaseException:
            if self.fault != "swallows a cancellation":
                raise
            return b""
        if self.fault == "splits characters":
            return chunk.decode("utf-8", "replace").encode()
        return chunk

    def read(self, line: bytes) -> Mapping[str, object]:
        """The object on a line."""
        try:
            value: object = json.loads(line)
        except ValueError:
            value = None
        if is_object(value):
            return value
        shown = line.decode("utf-8", "replace")
        if self.fault != "shows the key":
            shown = without_secrets(shown, self.key)
        raise violation(f"expected a JSON object, got {shown[:200]!r}")

    def said(self, value: Mapping[str, object]) -> str:
        """The words of a line."""
        said = value["say"] if self.fault == "raises for what is missing" else value.get("say")
        if not isinstance(said, str):
            raise violation("a line says nothing")
        return said.encode("utf-8", "replace").decode()

    def finish(self, end: object) -> FinishReason:
        """Why a reply ended."""
        raw = end if isinstance(end, str) else None
        return FinishReason("stop" if raw == "stop" else "other", raw)

    def usage(self, tokens: object, *, is_streamed: bool = False) -> Usage:
        """What was spent."""
        count = tokens if isinstance(tokens, int) and tokens >= 0 else None
        if is_streamed and self.fault == "counts otherwise in streams":
            return Usage()
        return Usage(output_tokens=count)

    def refuse(self, response: HttpResponse) -> None:
        """Let replies pass alone."""
        status = response.status
        if status < 400 or self.fault == "takes a refusal for a reply":
            return
        told = response.header("retry-after")
        waits = told is not None and self.fault != "forgets when to try again"
        raise ModelError(
            ModelErrorReason(
                _KINDS.get(status, "overloaded" if status >= 500 else "bad-request"),
                "the server refused",
                status=status,
                retry_after=int(told or 0) * 1_000_000_000 if waits else None,
            )
        )
