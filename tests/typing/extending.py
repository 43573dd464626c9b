"""What users write: stop conditions, middleware and models. Their type is all that they need."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from typing import ParamSpec, TypeVar, assert_type, final

from attrs import frozen

from stepfold import (
    Agent,
    Condition,
    LanguageModel,
    Middleware,
    ModelReply,
    ModelRequest,
    ModelStream,
    Progress,
    Stop,
    StopCondition,
    StreamPart,
    all_of,
    always,
    any_of,
    compose,
    is_step_count,
    negate,
    never,
    stop_if,
    streamed,
    token_budget,
)

P = ParamSpec("P")
T = TypeVar("T")

# --- stop conditions --------------------------------------------------------------------------


def too_long(progress: Progress) -> Stop | None:
    return Stop("too-long") if len(progress.last.text) > 1000 else None


def at_once(progress: Progress) -> Stop:
    return Stop("at-once")


def at_least(count: int, progress: Progress) -> Stop | None:
    return Stop("enough") if len(progress.steps) >= count else None


def truly(progress: Progress) -> bool:
    return len(progress.steps) > 3


async def later(progress: Progress) -> Stop | None:
    return None


@final
@frozen
class Patience:
    steps: int

    def __call__(self, progress: Progress, /) -> Stop | None:
        return Stop("patience") if len(progress.steps) > self.steps else None


def conditions_are_functions() -> None:
    conditions: list[StopCondition] = [
        too_long,
        at_once,
        partial(at_least, 3),
        Patience(3),
        lambda progress: None,
        is_step_count(3),
        any_of(too_long, is_step_count(3)),
        all_of(at_once, negate(too_long)),
        stop_if(truly, "long"),
        never,
        always,
    ]
    assert_type(too_long | is_step_count(3), Condition)
    assert_type(is_step_count(3) & too_long, Condition)
    assert_type(~is_step_count(3), Condition)
    for condition in conditions:
        Agent(model="a/b", stop_when=condition)


def what_is_no_condition() -> None:
    Agent(model="a/b", stop_when=truly)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", stop_when=later)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", stop_when=is_step_count)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", stop_when=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", stop_when=[is_step_count(5)])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    any_of(truly)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    token_budget("5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    too_long | at_once  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]


# --- models -----------------------------------------------------------------------------------


def logged(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    return function


def counted(
    function: Callable[P, Coroutine[None, None, T]],
) -> Callable[P, Coroutine[None, None, T]]:
    return function


@final
@frozen
class Echo:
    """Fields for names, a decorated method, and a generator made a context manager."""

    reply: ModelReply
    provider: str = "acme"
    model_id: str = "echo"

    @logged
    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return self.reply

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        for part in list[StreamPart]():
            yield part


@final
class Counted:
    """Class attributes for names, parameters named otherwise, a context manager by hand."""

    provider = "acme"
    model_id = "counted"

    @counted
    async def generate(self, asked: ModelRequest) -> ModelReply:
        raise NotImplementedError

    @asynccontextmanager
    async def stream(self, asked: ModelRequest) -> AsyncGenerator[AsyncIterator[StreamPart]]:
        for parts in list[AsyncIterator[StreamPart]]():
            yield parts


@final
@frozen
class Wrapped:
    """A class with an inner model is a middleware."""

    inner: LanguageModel

    @property
    def provider(self) -> str:
        return self.inner.provider

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    def generate(self, request: ModelRequest, /) -> Awaitable[ModelReply]:
        return self.inner.generate(request)

    def stream(self, request: ModelRequest, /) -> ModelStream:
        return self.inner.stream(request)


@final
class NoStream:
    provider = "acme"
    model_id = "half"

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        raise NotImplementedError


@final
class BareGenerator:
    provider = "acme"
    model_id = "bare"

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        raise NotImplementedError

    async def stream(self, request: ModelRequest, /) -> AsyncIterator[StreamPart]:
        for part in list[StreamPart]():
            yield part


@final
class TextModel:
    provider = "acme"
    model_id = "text"

    async def generate(self, request: ModelRequest, /) -> str:
        raise NotImplementedError

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        for part in list[StreamPart]():
            yield part


def models_are_whatever_has_their_shape(reply: ModelReply) -> None:
    _models: list[LanguageModel] = [Echo(reply), Counted(), Wrapped(Echo(reply))]
    Agent(model=Echo(reply))
    Agent(model=Wrapped(Counted()))
    Agent(model=NoStream())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model=BareGenerator())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model=TextModel())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model=Echo)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# --- middleware -------------------------------------------------------------------------------


def unchanged(model: LanguageModel) -> LanguageModel:
    return model


def with_prefix(prefix: str) -> Middleware:
    return lambda model: Wrapped(model)


def awaited(model: LanguageModel) -> Awaitable[LanguageModel]:
    raise NotImplementedError


def middleware_is_a_function() -> None:
    composed = compose(Wrapped, unchanged, with_prefix("a"), lambda model: model)
    assert_type(composed, Middleware)
    assert_type(compose()(Counted()), LanguageModel)
    Agent(model=composed(Counted()))
    compose(with_prefix)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    compose(awaited)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    compose(Counted())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
