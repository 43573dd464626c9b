"""What all models that are reached over HTTP have in common: an address and connections."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Generic, Self, TypeVar, final

from attrs import frozen
from typing_extensions import override

from stepfold.providers._endpoint import (
    ClientOptions,
    Dialect,
    Endpoint,
    SignRequest,
    checked_address,
)
from stepfold.providers._failures import reason_of_response
from stepfold.transport import HttpConnections, HttpRequest, HttpResponse
from stepfold.values import ModelError, ModelWarning

D = TypeVar("D", bound=Dialect)

_SHORTEST_SECRET = 8
# What these say may be told in a message: the name of a model, above all.
_HARMLESS = frozenset(
    {"accept", "anthropic-beta", "anthropic-version", "content-type", "user-agent"}
    | {"x-amz-date"}
    | {"ai-gateway-auth-method", "ai-gateway-protocol-version", "ai-language-model-id"}
    | {"ai-language-model-specification-version", "ai-language-model-streaming"}
    | {"ai-model-id", "ai-embedding-model-specification-version"}
    | {"ai-reranking-model-specification-version"}
)


@final
@frozen(order=False)
class WireCall:
    """What goes on the wire, and what of the request could not be said there."""

    request: HttpRequest
    warnings: tuple[ModelWarning, ...] = ()


class HttpCaller(Generic[D]):
    """Where a model is, and how it is reached; see `HttpModel` for how long connections live."""

    def __init__(self, endpoint: Endpoint[D], connections: HttpConnections) -> None:
        self._endpoint = endpoint
        self._connections = connections

    @property
    def provider(self) -> str:
        """Who runs the model, and over which protocol where there are several."""
        return self._endpoint.provider

    @property
    def model_id(self) -> str:
        """What the provider calls the model."""
        return self._endpoint.model_id

    @property
    def endpoint(self) -> Endpoint[D]:
        """Where the model is, and its dialect."""
        return self._endpoint

    def _signed(self, request: HttpRequest) -> HttpRequest:
        """The request as it is to be sent now."""
        sign = self._endpoint.sign
        return request if sign is None else sign(request, time.time_ns())

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
        return (
            f"<{type(self).__name__} {self.provider}/{self.model_id} at {self._endpoint.base_url}>"
        )


def endpoint_of(
    model_id: str,
    dialect: D,
    *,
    base_url: str,
    headers: Mapping[str, str | None],
    options: ClientOptions,
    name: str | None = None,
    sign: SignRequest | None = None,
) -> Endpoint[D]:
    """Where a model is; headers that are `None` are left out, and those of the options win.

    Raises:
        UsageError: the address is not one of http or https.
    """
    own = {name: value for name, value in headers.items() if value is not None}
    given = {name.lower(): value for name, value in (options.get("headers") or {}).items()}
    return Endpoint(
        model_id=model_id,
        base_url=checked_address(base_url),
        headers=tuple((own | given).items()),
        dialect=dialect,
        name=name,
        sign=sign,
    )


def connections_of(options: ClientOptions) -> HttpConnections:
    """The connections that the options ask for."""
    return HttpConnections(
        options.get("client"),
        blocking_client=options.get("blocking_client"),
        limits=options.get("limits"),
    )


def refuse_errors(response: HttpResponse, secrets: tuple[str, ...]) -> None:
    """Let only a response pass that may hold a reply.

    Raises:
        ModelError: its status says that it is none.
    """
    if not 200 <= response.status < 300:
        raise ModelError(reason_of_response(response, now=time.time_ns(), secrets=secrets))


def secrets_of(request: HttpRequest) -> tuple[str, ...]:
    """Header values that must not come back in a message: keys, with and without their scheme."""
    return tuple(
        secret
        for name, value in request.headers
        if name not in _HARMLESS
        for secret in (value, value.rpartition(" ")[2])
        if len(secret) >= _SHORTEST_SECRET
    )
