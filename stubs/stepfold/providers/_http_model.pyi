from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar, final
from attrs import frozen
from stepfold.ports import ModelStream, SupportedUrls
from stepfold.providers._endpoint import ClientOptions, Dialect, Endpoint
from stepfold.providers._http_caller import HttpCaller, WireCall
from stepfold.transport import HttpConnections
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
class HttpModel(HttpCaller[D]):
    def __init__(
        self, codec: WireCodec[D], endpoint: Endpoint[D], connections: HttpConnections
    ) -> None: ...
    @property
    def supported_urls(self) -> SupportedUrls: ...
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    def stream(self, request: ModelRequest, /) -> ModelStream: ...

def http_model(
    codec: WireCodec[D],
    model_id: str,
    dialect: D,
    *,
    base_url: str,
    headers: Mapping[str, str | None],
    options: ClientOptions,
) -> HttpModel[D]: ...
