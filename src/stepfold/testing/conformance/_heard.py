"""What came of asking a model, whatever it was, and how a broken law is told."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Never, TypeAlias, TypeVar, final

from anyio import move_on_after
from attrs import evolve, fields_dict, frozen, has
from typing_extensions import TypeIs

from stepfold.loop import fold_parts, parts_of
from stepfold.ports import BLOCKING, LanguageModel
from stepfold.testing.conformance._drawn import broken
from stepfold.values import (
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    TextDelta,
    UsageError,
)

T = TypeVar("T")

PATIENCE = 5.0
"""How long a model may take over an exchange, in seconds; the server's own limit is far less."""

_SHOWN = 600


@final
@frozen(order=False)
class Broken:
    """The model did what no model may do; or it raised `UsageError`, which it may when asked."""

    what: str
    is_refusal: bool = False


Result: TypeAlias = ModelReply | ModelErrorReason | Broken
"""A reply, a typed error, or what must not be."""


@final
@frozen(order=False)
class Heard:
    """The parts that a model gave, and how that ended."""

    parts: tuple[StreamPart, ...]
    end: Result

    @property
    def text(self) -> str:
        """What was said."""
        return "".join(part.delta for part in self.parts if isinstance(part, TextDelta))


async def ask(model: LanguageModel, request: ModelRequest) -> Result:
    """Ask for a reply in one piece."""

    async def reply() -> Result:
        return fold_parts(parts_of(await model.generate(request)))

    return await _patiently(reply)


async def listen(model: LanguageModel, request: ModelRequest) -> Heard:
    """Ask for a reply part by part, and fold it."""
    parts: list[StreamPart] = []

    async def reply() -> Result:
        async with model.stream(request) as stream:
            async for part in stream:
                parts.extend((part,))
        return fold_parts(parts)

    end = await _patiently(reply)
    return Heard(tuple(parts), end)


async def _patiently(work: Callable[[], Awaitable[Result]]) -> Result:
    if BLOCKING.get():
        return await _guarded(work)
    with move_on_after(PATIENCE):
        return await _guarded(work)
    return Broken(f"it did not end within {PATIENCE:g} s")


async def _guarded(work: Callable[[], Awaitable[Result]]) -> Result:
    try:
        return await work()
    except ModelError as error:
        return error.reason
    except UsageError as error:
        return Broken(f"it raised UsageError: {error}", is_refusal=True)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the check is about
        return Broken(f"it raised {type(error).__name__}: {error}")


def without_event_loop(coroutine: Coroutine[object, object, T]) -> T:
    """Run a coroutine that must not suspend, as a run without an event loop does.

    Raises:
        AssertionError: it suspended.
    """
    token = BLOCKING.set(True)
    try:
        coroutine.send(None)
    except StopIteration as ended:
        value: T = ended.value
        return value
    finally:
        BLOCKING.reset(token)
    coroutine.close()
    raise AssertionError(
        "without an event loop a model must not suspend: where `stepfold.ports.BLOCKING` is set, "
        "it has to block, or its attribute async_only has to be True"
    )


# --- comparing, and telling -------------------------------------------------------------------


def essence(result: Result) -> Result:
    """A result without the headers of its own exchange."""
    if isinstance(result, ModelReply):
        return evolve(result, response=evolve(result.response, headers=()))
    return result


def says_the_same(result: Result, whole: Result) -> bool:
    """Whether a result is a typed error, or the same reply, maybe without its figures."""
    if isinstance(result, ModelErrorReason):
        return True
    return (
        isinstance(result, ModelReply)
        and isinstance(whole, ModelReply)
        and result.content == whole.content
        and result.finish_reason == whole.finish_reason
    )


def difference(expected: object, came: object, path: str = "") -> tuple[str, str]:
    """The first place in which two values differ, as both have it."""
    kind = type(expected)
    if has(kind) and kind is type(came):
        for name in fields_dict(kind):
            one: object = getattr(expected, name)
            other: object = getattr(came, name)
            if one != other:
                return difference(one, other, f"{path}.{name}".lstrip("."))
    if _is_tuple(expected) and _is_tuple(came):
        for number, (one, other) in enumerate(zip(expected, came, strict=False)):
            if one != other:
                return difference(one, other, f"{path}[{number}]")
        if len(expected) != len(came):
            return f"{len(expected)} {path}", f"{len(came)} {path}, otherwise the same"
    where = f"{path} is " if path else ""
    return f"{where}{_leaf(expected)}", f"{where}{_leaf(came)}"


def _leaf(value: object) -> str:
    return told(repr(value) if isinstance(value, str) else value)


def _is_tuple(value: object) -> TypeIs[tuple[object, ...]]:
    return isinstance(value, tuple)


def broken_law(law: str, *, sample: str, done: str, expected: object, came: object) -> Never:
    """Tell of a law that does not hold.

    Raises:
        AssertionError: always.
    """
    broken(law, sample=sample, done=done, expected=told(expected), came=told(came))


def told(value: object) -> str:
    """A value in words that fit a screen."""
    match value:
        case str(text):
            shown = text
        case Broken(what):
            shown = what
        case ModelErrorReason():
            shown = f"ModelError of {value}"
        case ModelReply(content, finish):
            said = repr(list(content)).replace(", provider_options=None", "")
            shown = f"a reply of {said} that ended as {finish.unified!r}"
        case _:
            shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
