from types import TracebackType
from typing import Generic, Self, TypeVar, final
from attrs import frozen
from typing_extensions import override
from stepfold.providers._endpoint import Dialect, Endpoint
from stepfold.transport import HttpConnections, HttpRequest
from stepfold.values import ModelWarning

D = TypeVar("D", bound=Dialect)

@final
@frozen(order=False)
class WireCall:
    request: HttpRequest
    warnings: tuple[ModelWarning, ...] = ()

class HttpCaller(Generic[D]):
    def __init__(self, endpoint: Endpoint[D], connections: HttpConnections) -> None: ...
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    @property
    def endpoint(self) -> Endpoint[D]: ...
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
