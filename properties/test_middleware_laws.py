"""Law 11: middleware is a monoid, and one that changes nothing can be left out."""

from collections.abc import AsyncGenerator, Awaitable
from typing import final

import anyio
import anyio.lowlevel
import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from stepfold.agent import Agent
from stepfold.loop import parts_of
from stepfold.ports import LanguageModel, Middleware, compose, streamed
from stepfold.shell import tool
from stepfold.testing import ScriptedModel, VirtualClock, call, laws, reply
from stepfold.testing.strategies import model_errors, model_replies
from stepfold.values import (
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    Text,
    TextDelta,
    UserMessage,
)

REQUEST = ModelRequest(messages=(UserMessage("Go."),))


@final
@frozen
class Relayed:
    """Hands everything on, part by part, and closes what it opened."""

    inner: LanguageModel

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return await self.inner.generate(request)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        async with self.inner.stream(request) as parts:
            async for part in parts:
                await anyio.lowlevel.checkpoint()
                yield part


@final
@frozen
class Signed:
    """Appends a letter to each text, and to the name: the order of layers shows."""

    letter: str
    inner: LanguageModel

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id + self.letter

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        given_reply = await self.inner.generate(request)
        content = tuple(
            evolve(part, text=part.text + self.letter) if isinstance(part, Text) else part
            for part in given_reply.content
        )
        return evolve(given_reply, content=content)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        async with self.inner.stream(request) as parts:
            async for part in parts:
                if isinstance(part, TextDelta):
                    yield evolve(part, delta=part.delta + self.letter)
                else:
                    yield part


@final
@frozen
class Generating:
    """Streams by generating: what a cache or a guard does."""

    inner: LanguageModel

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    def generate(self, request: ModelRequest, /) -> Awaitable[ModelReply]:
        return self.inner.generate(request)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        for part in parts_of(await self.inner.generate(request)):
            yield part


def signed(letter: str) -> Middleware:
    return lambda model: Signed(letter, model)


def middlewares() -> st.SearchStrategy[Middleware]:
    """Draw layers: transparent ones, marked ones, and compositions of them."""
    plain: st.SearchStrategy[Middleware] = st.sampled_from([Relayed, Generating, compose()])
    return st.recursive(
        plain | st.sampled_from("abc").map(signed),
        lambda inner: st.lists(inner, max_size=3).map(lambda layers: compose(*layers)),
        max_leaves=4,
    )


def answers() -> st.SearchStrategy[ModelReply | ModelErrorReason]:
    """Draw what a model says, or that it fails."""
    return model_replies(tools=("look",)) | model_errors()


def model_saying(answer: ModelReply | ModelErrorReason) -> ScriptedModel:
    return ScriptedModel([answer] * 20)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(first=middlewares(), second=middlewares(), third=middlewares(), answer=answers())
def test_middleware_is_a_monoid(
    backend: str,
    first: Middleware,
    second: Middleware,
    third: Middleware,
    answer: ModelReply | ModelErrorReason,
) -> None:
    """`compose()` is the identity, composition is associative, first listed is outermost."""

    async def check() -> None:
        model = model_saying(answer)
        await laws.middleware_is_a_monoid(first, second, third, model, REQUEST)

    anyio.run(check, backend=backend)


@given(st.lists(st.sampled_from("abc"), max_size=5))
def test_the_first_listed_is_outermost(letters: list[str]) -> None:
    """The outermost layer touches a reply last."""
    model = compose(*map(signed, letters))(model_saying(reply("-")))

    async def text() -> ModelReply:
        return await model.generate(REQUEST)

    assert model.model_id == "model" + "".join(reversed(letters))
    assert anyio.run(text).content == (Text("-" + "".join(reversed(letters))),)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    "layer", [Relayed, compose(), compose(Relayed, Relayed)], ids=["one", "none", "two"]
)
@given(answer=answers())
def test_a_transparent_layer_can_be_left_out(
    backend: str, layer: Middleware, answer: ModelReply | ModelErrorReason
) -> None:
    """Nothing that can be seen of a model tells that it is there."""

    async def check() -> None:
        await laws.middleware_is_transparent(layer, model_saying(answer), REQUEST)

    anyio.run(check, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(layer=middlewares(), answer=model_replies(tools=("look",)))
def test_generating_is_the_fold_of_streaming_through_any_layers(
    backend: str, layer: Middleware, answer: ModelReply
) -> None:
    """Law 7 of a model is not lost by middleware that keeps it (a letter a block, here)."""
    texts = [part for part in answer.content if isinstance(part, Text)]
    if not all(part.text for part in texts):  # an empty block grows by a letter in one of the two
        return

    async def check() -> None:
        await laws.generate_is_the_folded_stream(layer(model_saying(answer)), REQUEST)

    anyio.run(check, backend=backend)


@tool
async def look(number: int) -> int:
    return number


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(depth=st.integers(0, 4), after=st.integers(0, 14))
def test_leaving_a_stream_closes_every_layer(backend: str, depth: int, after: int) -> None:
    """However deep, and wherever it is left."""
    opened: list[str] = []
    closed: list[str] = []

    @final
    class Counting:
        provider = "scripted"
        model_id = "model"

        def __init__(self, inner: LanguageModel) -> None:
            self._inner = inner

        def generate(self, request: ModelRequest, /) -> Awaitable[ModelReply]:
            return self._inner.generate(request)

        @streamed
        async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
            opened.append(request.key)
            try:
                async with self._inner.stream(request) as parts:
                    async for part in parts:
                        yield part
            finally:
                closed.append(request.key)

    async def leave() -> None:
        script = [reply("Hm.", call("look", {"number": 1})), reply("done")]
        model = compose(*[Counting] * depth)(ScriptedModel(script))
        agent = Agent(model=model, tools=[look])
        seen = 0
        async with agent.stream("Go.", clock=VirtualClock()) as stream:
            async for _ in stream:
                seen += 1
                if seen > after:
                    break

    anyio.run(leave, backend=backend)

    assert sorted(opened) == sorted(closed)
