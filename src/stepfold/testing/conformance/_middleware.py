"""The check of a middleware: what it makes of a lawful model is a lawful model."""

import itertools
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from importlib.util import find_spec
from typing import Final, Never, final

import anyio

from stepfold.loop import parts_of
from stepfold.ports import LanguageModel, Middleware, streamed
from stepfold.testing.conformance._drawn import hold, name_of, require_hypothesis
from stepfold.testing.conformance._findings import Findings, StatedLaw, break_law, findings_on
from stepfold.testing.conformance._heard import (
    Broken,
    Heard,
    Result,
    ask,
    difference,
    listen,
    without_event_loop,
)
from stepfold.testing.conformance._heard import told as told_result
from stepfold.testing.conformance._request_laws import HELLO
from stepfold.values import (
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    UsageError,
)

_NUMBERS: Final = itertools.count()
_CUT: Final = ModelErrorReason("connection", "the connection was lost")

_NAMES: Final = StatedLaw(
    "a model has two names, and can generate and stream", "a class without `model_id`"
)
_ENDS: Final = StatedLaw("a model ends in a reply or a ModelError", "`raise TimeoutError`")
_FOLD: Final = StatedLaw(
    "what a model generates is the fold of what it streams", "changing one of the two"
)
_CLOSED: Final = StatedLaw(
    "a stream that was left leaves nothing open", "entering a stream without leaving it"
)
_APART: Final = StatedLaw(
    "two models behind one middleware do not get each other's answers",
    "a cache that does not look at the name of the model",
)
_UNSEEN: Final = StatedLaw(
    "a transparent middleware can be left out", "a name of its own; leaving out empty parts"
)

MIDDLEWARE_LAWS: Final = (_NAMES, _ENDS, _FOLD, _CLOSED, _APART, _UNSEEN)
"""What `check_middleware` asks of a middleware, in the order in which it is told."""


def check_middleware(
    middleware: Middleware,
    *,
    is_transparent: bool = False,
    request: ModelRequest = HELLO,
    examples: int = 60,
) -> None:
    """Check a middleware against the laws of models and of middleware (laws 7, 11 and 15).

    It is put around drawn models that answer, fail at once, or fail in the middle of a stream.
    A middleware keeps the laws if, for each of them,

    - a model has two names, and can generate and stream, the one that it makes too;
    - a model ends in a reply or a ModelError;
    - what a model generates is the fold of what it streams;
    - a stream that was left leaves nothing open, early or at its end;
    - two models behind one middleware do not get each other's answers;
    - with `is_transparent`, a transparent middleware can be left out: nothing that can be seen of
      a model tells that it is there.

    All of this without an event loop, on asyncio and on trio; a model with `async_only = True` is
    not tried without one.

    It is asked the same request more than once, so one that counts or limits requests needs limits
    that are wide enough. Call it in a test that is not async: it runs event loops of its own.

    Raises:
        AssertionError: a law does not hold; the text tells the smallest model that breaks it.
        UsageError: this is no function, or hypothesis (the extra `testing`) is missing.
    """
    require_hypothesis("check_middleware")
    from hypothesis import strategies as st

    from stepfold.testing.strategies import model_errors, model_replies

    layer: object = middleware
    if not callable(layer):
        msg = f"check_middleware: expected a function of a LanguageModel, got {layer!r:.200}"
        raise UsageError(msg)
    answers = model_replies(tools=("look",), cut=5) | model_errors()
    cuts = st.none() | st.integers(0, 4)

    findings = findings_on(MIDDLEWARE_LAWS)
    if not is_transparent:
        findings.leave_out("say is_transparent=True", _UNSEEN)

    for where in _places(middleware):

        def check(drawn: tuple[ModelReply | ModelErrorReason, int | None], at: str = where) -> None:
            trial = _Trial(middleware, findings, *drawn, request, at)
            _in(at, lambda: trial.try_laws(is_transparent=is_transparent))

        some = examples if where == "asyncio" else -(-examples // 3)
        hold(findings, check, st.tuples(answers, cuts), examples=some)


def _places(middleware: Middleware) -> Sequence[str]:
    loops = ("asyncio", "trio") if find_spec("trio") is not None else ("asyncio",)
    try:
        model = middleware(_Inner("model", _CUT, None))
    except Exception:  # noqa: BLE001 - whatever it raises, the first trial tells
        return loops
    return loops if getattr(model, "async_only", False) else (*loops, "no event loop")


def _in(where: str, work: Callable[[], Coroutine[object, object, None]]) -> None:
    if where == "no event loop":
        without_event_loop(work())
    else:
        anyio.run(work, backend=where)


@final
class _Inner:
    """A model that always answers alike, and counts the streams that are open."""

    provider = "inner"

    def __init__(
        self, model_id: str, answer: ModelReply | ModelErrorReason, cut: int | None
    ) -> None:
        self.model_id: Final = model_id
        self.open = 0
        self._answer: Final = answer
        self._cut: Final = cut

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Answer, or fail: at once, or as a stream does in its middle."""
        del request
        if isinstance(self._answer, ModelErrorReason):
            raise ModelError(self._answer)
        if self._cut is not None:
            raise ModelError(_CUT)
        return self._answer

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        """Answer part by part."""
        del request
        if isinstance(self._answer, ModelErrorReason):
            raise ModelError(self._answer)
        self.open += 1
        try:
            for number, part in enumerate(parts_of(self._answer)):
                if number == self._cut:
                    break
                yield part
            if self._cut is not None:
                raise ModelError(_CUT)
        finally:
            self.open -= 1


@final
class _Trial:
    """One drawn model, and the middleware around it."""

    def __init__(
        self,
        middleware: Middleware,
        findings: Findings,
        answer: ModelReply | ModelErrorReason,
        cut: int | None,
        request: ModelRequest,
        where: str,
    ) -> None:
        self._middleware: Final = middleware
        self._findings: Final = findings
        self._answer: Final = answer
        self._cut: Final = cut
        self._request: Final = request
        self._where: Final = where
        self._name: Final = f"model-{next(_NUMBERS)}"  # so that nothing is cached from another

    async def try_laws(self, *, is_transparent: bool) -> None:
        """Try all of them."""
        inner = self._inner()
        model = self._wrapped(inner)
        heard = await listen(model, self._request)
        self._ended("stream", heard.end)
        with self._findings.trying(_CLOSED):
            self._closed(inner, "read to its end")
        generated = await ask(self._wrapped(self._inner()), self._request)
        self._ended("generate", generated)
        with self._findings.trying(_FOLD):
            self._folded(heard.end, generated)
        with self._findings.trying(_CLOSED):
            await self._left_early()
        with self._findings.trying(_APART):
            await self._apart()
        if is_transparent:
            with self._findings.trying(_UNSEEN):
                await self._unseen(heard, generated)

    def _folded(self, streamed: Result, generated: Result) -> None:
        is_reply = isinstance(generated, ModelReply)
        if self._cut is None and generated != streamed:
            expected, came = difference(streamed, generated)
            self._broken(_FOLD, streamed=expected, generated=came)
        if is_reply != isinstance(streamed, ModelReply):
            self._broken(_FOLD, streamed=told_result(streamed), generated=told_result(generated))

    async def _left_early(self) -> None:
        inner = self._inner()
        try:
            async with self._wrapped(inner).stream(self._request) as parts:
                async for _ in parts:
                    break
        except ModelError:
            pass  # it failed before its first part, which is as good an end as any
        self._closed(inner, "left after its first part")

    async def _apart(self) -> None:
        """Ask one model, then another, with the same middleware around both."""
        other = ModelErrorReason("not-found", "there is no such model")
        await ask(self._wrapped(self._inner()), self._request)
        alone = await ask(self._wrapped(_Inner("another", other, None)), self._request)
        if isinstance(self._answer, ModelReply) and alone == self._answer:
            self._broken(
                _APART,
                asked="another model, after this one",
                came=told_result(alone),
            )

    async def _unseen(self, heard: Heard, generated: Result) -> None:
        bare = self._inner()
        model = self._wrapped(bare)
        names = f"{bare.provider}/{bare.model_id}"
        seen = f"{model.provider}/{model.model_id}"
        plain, whole = await listen(bare, self._request), await ask(bare, self._request)
        pairs = ((names, seen), (plain.parts, heard.parts), (whole, generated))
        for expected, came in pairs:
            if expected != came:
                without, with_it = difference(expected, came)
                self._broken(_UNSEEN, without=without, came=with_it)

    def _inner(self) -> _Inner:
        return _Inner(self._name, self._answer, self._cut)

    def _wrapped(self, inner: LanguageModel) -> LanguageModel:
        try:
            model = self._middleware(inner)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            self._broken(_NAMES, came=f"it raised {type(error).__name__}: {error}")
        for name in ("provider", "model_id"):
            found: object = getattr(model, name, None)
            if not isinstance(found, str):
                self._broken(_NAMES, name=name, came=f"{found!r:.200}")
        for name in ("generate", "stream"):
            if not callable(getattr(model, name, None)):
                self._broken(_NAMES, missing=name)
        self._findings.tried(_NAMES)
        return model

    def _ended(self, how: str, result: Result) -> None:
        if isinstance(result, Broken):
            self._broken(_ENDS, asked=how, came=told_result(result))
        self._findings.tried(_ENDS)

    def _closed(self, inner: _Inner, how: str) -> None:
        if inner.open:
            self._broken(
                _CLOSED,
                done=f"a stream was {how}",
                came=f"{inner.open} stream of the inner model is open",
            )

    def _broken(self, law: StatedLaw, **told: object) -> Never:
        says = told_result(self._answer)
        if self._cut is not None and isinstance(self._answer, ModelReply):
            says += f", and fails after {self._cut} parts"
        name = name_of(self._middleware)
        break_law(name, law, model=f"gives {says}", **told, on=self._where)
