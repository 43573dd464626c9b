"""Middleware for embedding models."""

from collections.abc import Callable, Mapping
from typing import final

from attrs import evolve, frozen
from typing_extensions import override

from stepfold.ports import EmbeddingMiddleware, EmbeddingModel, EmbeddingReply, EmbeddingRequest
from stepfold.shell._middleware_defaults import json_options, merged_headers
from stepfold.values import merge_options


@frozen(eq=False)
class _Layer:
    """An embedding model over another: its names and limits, and what it is asked changed."""

    inner: EmbeddingModel
    change: Callable[[EmbeddingRequest], EmbeddingRequest] = lambda request: request

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    @property
    def max_values_per_call(self) -> int | None:
        return self.inner.max_values_per_call

    @property
    def supports_parallel_calls(self) -> bool:
        return self.inner.supports_parallel_calls

    @property
    def async_only(self) -> bool:
        return bool(getattr(self.inner, "async_only", False))

    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply:
        return await self.inner.embed(self.change(request))


@final
@frozen(eq=False, kw_only=True)
class _Renamed(_Layer):
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


def wrap_embedding_model(
    model: EmbeddingModel,
    /,
    *middleware: EmbeddingMiddleware,
    model_id: str | None = None,
    provider: str | None = None,
) -> EmbeddingModel:
    """Put middleware around an embedding model, first listed outermost; rename it if wanted.

    Args:
        model: The model that is asked in the end.
        middleware: What is put around it.
        model_id: What the wrapped model is called; by default as the middleware says.
        provider: Who is said to run it; by default as the middleware says.
    """
    for layer in reversed(middleware):
        model = layer(model)
    if model_id is None and provider is None:
        return model
    return _Renamed(model, own_provider=provider, own_model_id=model_id)


def map_embedding_request(
    function: Callable[[EmbeddingRequest], EmbeddingRequest], /
) -> EmbeddingMiddleware:
    """Make a middleware of a function that changes what an embedding model is asked.

    It should be pure, and keep the number and order of the texts.
    """
    return lambda model: _Layer(model, function)


def default_embedding_settings(
    *,
    dimensions: int | None = None,
    headers: Mapping[str, str] | None = None,
    provider_options: Mapping[str, object] | None = None,
) -> EmbeddingMiddleware:
    """Merge settings under those of each request: what the request says wins.

    Args:
        dimensions: Used where the request leaves them `None`.
        headers: Used where the request has no header of this name, in upper or lower case.
        provider_options: Merged under those of the request at every depth; arrays are replaced.

    Raises:
        UsageError: the provider options have no JSON form.
    """
    pairs = tuple((headers or {}).items())
    options = None if provider_options is None else json_options(provider_options)

    def change(request: EmbeddingRequest) -> EmbeddingRequest:
        return evolve(
            request,
            dimensions=dimensions if request.dimensions is None else request.dimensions,
            headers=merged_headers(pairs, request.headers),
            provider_options=merge_options(options, request.provider_options),
        )

    return map_embedding_request(change)
