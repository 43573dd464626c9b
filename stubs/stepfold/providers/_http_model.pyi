from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar, final
from attrs import frozen
from typing_extensions import override
from stepfold.ports import ModelStream, SupportedUrls
from stepfold.providers._endpoint import Dialect, Endpoint
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits, HttpRequest
from stepfold.values import (
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    ModelWarning,
    Outcome,
    StreamPart,
)

D = TypeVar("D", bound=Dialect)
D_contra = TypeVar("D_contra", bound=Dialect, contravariant=True)

@final
@frozen(order=False)
class WireCall:
    request: HttpRequest
    warnings: tuple[ModelWarning, ...] = ()

class WireDecoder(Protocol):
    @property
    def is_done(self) -> bool: ...
    @property
    def is_whole(self) -> bool: ...
    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]: ...
    def end(self) -> tuple[StreamPart, ...]: ...

class EncodeRequest(Protocol[D_contra]):
    def __call__(
        self, request: ModelRequest, endpoint: Endpoint[D_contra], *, stream: bool = False
    ) -> WireCall: ...

class DecodeReply(Protocol):
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
    encode: EncodeRequest[D_contra]
    decode: DecodeReply
    decoder: MakeDecoder

@final
class HttpModel(Generic[D]):
    def __init__(
        self,
        codec: WireCodec[D],
        endpoint: Endpoint[D],
        *,
        client: HttpClient | None = None,
        blocking_client: BlockingHttpClient | None = None,
        limits: HttpLimits | None = None,
    ) -> None: ...
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    @property
    def supported_urls(self) -> SupportedUrls: ...
    @property
    def endpoint(self) -> Endpoint[D]: ...
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    def stream(self, request: ModelRequest, /) -> ModelStream: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    @override
    def __repr__(self) -> str: ...
