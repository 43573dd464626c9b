"""`check_middleware` finds every planted fault, and nothing in their sound twins."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import final

import pytest
from attrs import evolve, frozen
from typing_extensions import override

import stepfold as sf
from stepfold.testing.conformance import check_middleware


@frozen
class _Plain:
    """Hands everything on: the faulty ones differ from it in one place."""

    inner: sf.LanguageModel

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    def generate(self, request: sf.ModelRequest, /) -> Awaitable[sf.ModelReply]:
        return self.inner.generate(request)

    def stream(
        self, request: sf.ModelRequest, /
    ) -> AbstractAsyncContextManager[AsyncIterator[sf.StreamPart]]:
        return self.inner.stream(request)


@final
class _OneSided(_Plain):
    """Changes what is generated, and not what is streamed."""

    @override
    async def generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
        reply = await self.inner.generate(request)
        return evolve(reply, content=(*reply.content, sf.Text("(checked)")))


@final
class _Leaking(_Plain):
    """Does not close what it opened."""

    @override
    def stream(
        self, request: sf.ModelRequest, /
    ) -> AbstractAsyncContextManager[AsyncIterator[sf.StreamPart]]:
        @asynccontextmanager
        async def opened() -> AsyncGenerator[AsyncIterator[sf.StreamPart]]:
            yield await self.inner.stream(request).__aenter__()

        return opened()


_SAID: list[str] = []


@final
class _Guessing(_Plain):
    """Takes for granted that a reply holds text."""

    @override
    async def generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
        reply = await self.inner.generate(request)
        texts = [part.text for part in reply.content if isinstance(part, sf.Text)]
        _SAID.append(texts[0])
        return reply


@final
class _Wrapping(_Plain):
    """Makes an error of its own kind out of each."""

    @override
    async def generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
        try:
            return await self.inner.generate(request)
        except sf.ModelError as error:
            msg = "the model has failed"
            raise RuntimeError(msg) from error


@final
class _Swallowing(_Plain):
    """Ends a stream that fails as if it were complete."""

    @override
    @sf.streamed
    async def stream(self, request: sf.ModelRequest, /) -> AsyncGenerator[sf.StreamPart]:
        async with self.inner.stream(request) as parts:
            try:
                async for part in parts:
                    yield part
            except sf.ModelError:
                yield sf.Finish(sf.FinishReason("stop"), sf.Usage())


_STORE: dict[str, sf.ModelReply] = {}


@final
class _Caching(_Plain):
    """Knows requests apart, and not models."""

    @override
    async def generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
        if request.key not in _STORE:
            _STORE[request.key] = await self.inner.generate(request)
        return _STORE[request.key]


@final
class _Nameless(_Plain):
    """Has lost the name of the model."""

    @property
    @override
    def model_id(self) -> str:
        return None  # type: ignore[return-value]


@final
class _Renaming(_Plain):
    """Says that it is transparent, and has another name."""

    @property
    @override
    def provider(self) -> str:
        return f"logged-{self.inner.provider}"


def _none(inner: sf.LanguageModel) -> sf.LanguageModel:
    """Forgets to return the model."""
    _Plain(inner)
    return None  # type: ignore[return-value]


def _failing(inner: sf.LanguageModel) -> sf.LanguageModel:
    """Expects a certain model."""
    raise LookupError(inner.model_id)


FAULTS: dict[str, tuple[sf.Middleware, str]] = {
    "changes one of two": (_OneSided, "is the fold of what it streams"),
    "does not close": (_Leaking, "leaves nothing open"),
    "expects text": (_Guessing, "ends in a reply or a ModelError"),
    "wraps errors": (_Wrapping, "ends in a reply or a ModelError"),
    "swallows errors": (_Swallowing, "is the fold of what it streams"),
    "caches by request alone": (_Caching, "do not get each other's answers"),
    "has no name": (_Nameless, "a model has two names"),
    "is no model": (_none, "a model has two names"),
    "fails at once": (_failing, "a model has two names"),
    "is seen": (_Renaming, "a transparent middleware can be left out"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault: str) -> None:
    middleware, law = FAULTS[fault]
    _STORE.clear()

    with pytest.raises(AssertionError, match=law):
        check_middleware(middleware, is_transparent=middleware is _Renaming)


@pytest.mark.parametrize(
    "middleware", [_Plain, sf.compose(), sf.compose(_Plain, _Plain)], ids=["one", "none", "two"]
)
def test_nothing_is_found_in_what_is_transparent(middleware: sf.Middleware) -> None:
    check_middleware(middleware, is_transparent=True)


@pytest.mark.parametrize(
    "middleware",
    [
        sf.simulate_streaming(),
        sf.extract_reasoning(tag="think"),
        sf.caching(sf.MemoryReplyStore()),
        sf.default_settings(settings=sf.CallSettings(temperature=0.0)),
    ],
    ids=["simulated", "reasoning", "cached", "defaults"],
)
def test_nothing_is_found_in_what_is_built_in(middleware: sf.Middleware) -> None:
    check_middleware(middleware)


def test_the_smallest_model_is_told() -> None:
    with pytest.raises(AssertionError) as raised:
        check_middleware(_Guessing)

    told = str(raised.value)
    assert told.startswith("_Guessing: a model ends in a reply or a ModelError\n")
    assert "gives a reply of []" in told
    assert "it raised IndexError" in told


def test_what_is_no_middleware_is_refused() -> None:
    with pytest.raises(sf.UsageError, match="expected a function of a LanguageModel, got 3"):
        check_middleware(3)  # type: ignore[arg-type]
