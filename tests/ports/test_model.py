"""The port to models: streams close what they hold, and middleware is a monoid."""

from collections.abc import AsyncGenerator, Awaitable
from typing import final

import pytest
from attrs import field, frozen
from typing_extensions import override

from stepfold.ports import LanguageModel, Middleware, ModelStream, compose, model_name, streamed
from stepfold.values import (
    Finish,
    FinishReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    UserMessage,
)

REQUEST = ModelRequest(messages=(UserMessage("Hi."),))


@final
@frozen
class Echo:
    """A model that says its name, and tells when its stream was closed."""

    provider: str = "acme"
    model_id: str = "echo"
    closed: list[str] = field(factory=list[str], eq=False)

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return ModelReply((Text(self.model_id),), FinishReason("stop"))

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        try:
            yield StreamStart()
            yield TextStart("0")
            yield TextDelta("0", self.model_id)
            yield TextEnd("0")
            yield Finish(FinishReason("stop"))
        finally:
            self.closed.append(self.model_id)


@final
@frozen
class Renamed:
    """A model under another name."""

    inner: LanguageModel
    suffix: str

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id + self.suffix

    def generate(self, request: ModelRequest, /) -> Awaitable[ModelReply]:
        return self.inner.generate(request)

    def stream(self, request: ModelRequest, /) -> ModelStream:
        return self.inner.stream(request)

    @override
    def __str__(self) -> str:
        return self.model_id


def renaming(suffix: str) -> Middleware:
    """Middleware that appends to the name of a model."""
    return lambda model: Renamed(model, suffix)


def test_composing_nothing_changes_nothing() -> None:
    """`compose()` is the unit (law 11)."""
    model = Echo()

    assert model is compose()(model)
    assert compose(compose(), renaming(".a"))(model).model_id == "echo.a"


def test_the_first_listed_middleware_is_outermost() -> None:
    """A request meets the layers in the order in which they are listed."""
    layered = compose(renaming(".outer"), renaming(".inner"))(Echo())

    assert layered.model_id == "echo.inner.outer"


def test_composition_is_associative() -> None:
    """Layers may be grouped at will (law 11)."""
    a, b, c = renaming("a"), renaming("b"), renaming("c")
    model = Echo()

    assert compose(a, compose(b, c))(model) == compose(compose(a, b), c)(model)


def test_a_model_is_named_by_provider_and_id() -> None:
    """This is the name that a program and a state know."""
    assert model_name(Echo()) == "acme/echo"


async def test_a_stream_gives_its_parts_and_then_closes() -> None:
    """A stream that is read to its end leaves nothing open."""
    model = Echo()
    async with model.stream(REQUEST) as parts:
        got = [part async for part in parts]

    assert [
        StreamStart(),
        TextStart("0"),
        TextDelta("0", "echo"),
        TextEnd("0"),
        Finish(FinishReason("stop")),
    ] == got
    assert model.closed == ["echo"]


async def test_leaving_a_stream_early_closes_it_at_once() -> None:
    """What a stream holds is released when it is left, not when it is collected."""
    model = Echo()
    async with model.stream(REQUEST) as parts:
        async for _ in parts:
            break

    assert model.closed == ["echo"]


async def test_an_error_in_the_reader_closes_the_stream() -> None:
    """The reader's own error comes through, and the stream is closed."""
    model = Echo()

    async def read() -> None:
        async with model.stream(REQUEST) as parts:
            await anext(parts)
            raise KeyError

    with pytest.raises(KeyError):
        await read()

    assert model.closed == ["echo"]
