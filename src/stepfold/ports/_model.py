"""The ports through which a run reaches models.

A model implements two methods and two names; it needs no registration and no base class.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import ParamSpec, Protocol, TypeAlias

from stepfold.values import ModelReply, ModelRequest, StreamPart

P = ParamSpec("P")

ModelStream: TypeAlias = AbstractAsyncContextManager[AsyncIterator[StreamPart]]
"""What `stream` gives: a context that holds the parts."""


class LanguageModel(Protocol):
    """A language model, real or scripted.

    Both methods raise `ModelError` when there is no complete reply, and nothing else on purpose.
    `stream` gives a context manager, so that leaving it early closes what it holds; for every
    request `generate(request)` equals the fold of `stream(request)`.

    A model may say in an attribute `supported_urls` which addresses of files its provider fetches
    itself (`SupportedUrls`); all others are fetched before it is asked. Without that attribute,
    addresses are the model's own business.
    """

    @property
    def provider(self) -> str:
        """Who runs the model, such as `openai`."""
        ...

    @property
    def model_id(self) -> str:
        """What the provider calls the model."""
        ...

    def generate(self, request: ModelRequest, /) -> Awaitable[ModelReply]:
        """Answer in one piece."""
        ...

    def stream(self, request: ModelRequest, /) -> ModelStream:
        """Answer part by part."""
        ...


Middleware: TypeAlias = Callable[[LanguageModel], LanguageModel]
"""A function from model to model; composed by `compose`, first listed outermost."""


def streamed(function: Callable[P, AsyncGenerator[StreamPart]], /) -> Callable[P, ModelStream]:
    """Make the `stream` method of a model from an async generator.

    Leaving the context closes the generator at once, so that what it holds in `async with` or
    `finally` is released; a bare async generator would be left to the garbage collector.
    """

    @asynccontextmanager
    async def opened(
        *args: P.args, **kwargs: P.kwargs
    ) -> AsyncGenerator[AsyncIterator[StreamPart]]:
        generator = function(*args, **kwargs)
        try:
            yield generator
        finally:
            await generator.aclose()

    return opened


def compose(*middleware: Middleware) -> Middleware:
    """Compose middleware into one, first listed outermost; `compose()` changes nothing."""

    def composed(model: LanguageModel) -> LanguageModel:
        for layer in reversed(middleware):
            model = layer(model)
        return model

    return composed


def model_name(model: LanguageModel) -> str:
    """The name of a model in a state: `provider/model_id`."""
    return f"{model.provider}/{model.model_id}"
