"""Calls of models that are no run: one answer each, asked for again by the same policy.

A call fails as a value, whatever the model raises. Everything here works on asyncio, on trio and,
where `BLOCKING` is set, without an event loop.
"""

import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Generic, TypeVar, final

from attrs import frozen
from typing_extensions import TypedDict

from stepfold.loop import RetryPolicy, pause_before_retry
from stepfold.ports import BLOCKING, KEEPER, Clock
from stepfold.shell._clock import SystemClock
from stepfold.shell._keeping import RunKeeper
from stepfold.shell._model_failures import reason_of
from stepfold.shell._observing import Line, Observation, Observer
from stepfold.shell._waiting import LoopWaiting, ThreadWaiting, missed_loop, suspended_in
from stepfold.values import (
    Failure,
    Instant,
    JsonText,
    ModelError,
    ModelErrorReason,
    Outcome,
    Success,
    UsageError,
)

R = TypeVar("R")


class ModelCallOptions(TypedDict, total=False):
    """What every call of an embedding or reranking model takes.

    `retry` says when a failed call is made again; `RetryPolicy()` by default. `headers` and
    `provider_options` go to the provider. `observers` are told of each attempt. `clock` is where
    the times come from. `run_id` is what observers know the call by, and `seed` decides the jitter
    of retries; both are new by default.
    """

    retry: RetryPolicy | None
    headers: Mapping[str, str] | None
    provider_options: Mapping[str, object] | None
    observers: Sequence[Observer]
    clock: Clock | None
    run_id: str | None
    seed: int | None


KNOWN_OPTIONS = frozenset(ModelCallOptions.__annotations__)


@final
@frozen(eq=False)
class Ask(Generic[R]):
    """One call: how to make it, and what observers are told of an attempt at it.

    `make` raises `ModelError` for what is no answer.
    """

    place: str
    make: Callable[[], Awaitable[R]]
    started: Callable[[int, Instant], Observation]
    ended: Callable[[int, R | ModelErrorReason, Instant, Instant], Observation]


@final
class Asking:
    """What the calls of one operation share: policy, clock, observers and connections."""

    def __init__(self, what: str, options: ModelCallOptions) -> None:
        for option in options:
            if option not in KNOWN_OPTIONS:
                known = ", ".join(sorted(KNOWN_OPTIONS))
                raise UsageError(f"{what}: expected options among {known}, got {option!r}")
        retry, clock = options.get("retry"), options.get("clock")
        run_id, seed = options.get("run_id"), options.get("seed")
        observers = tuple(options.get("observers", ()))
        self._what = what
        self._policy = RetryPolicy() if retry is None else retry
        self._clock: Clock = SystemClock() if clock is None else clock
        self._seed = secrets.randbits(63) if seed is None else seed
        self._keeper = RunKeeper()
        waiting = ThreadWaiting() if BLOCKING.get() else LoopWaiting()
        self._line = Line(observers, waiting) if observers else None
        self.run: str = f"{what}-{secrets.token_hex(8)}" if run_id is None else run_id
        self.headers: tuple[tuple[str, str], ...] = tuple((options.get("headers") or {}).items())
        self.provider_options: JsonText | None = _json(what, options.get("provider_options"))

    async def ask(self, ask: Ask[R]) -> Outcome[R, ModelError]:
        """Make a call, and make it again as the policy says.

        Raises:
            UsageError: the model refuses an option, or needs an event loop and there is none.
        """
        attempt = 0
        while True:
            started = self._clock.now()
            await self._tell(ask.started(attempt, started))
            error: Exception | None = None
            try:
                reply = await ask.make()
            except UsageError:  # an option that this model cannot take
                raise
            except Exception as raised:
                if BLOCKING.get() and missed_loop(raised):
                    raise _needs_loop(self._what, "the model") from raised
                error = raised
            else:
                await self._tell(ask.ended(attempt, reply, started, self._clock.now()))
                return Success(reply)
            failed, now = _model_error(error), self._clock.now()
            reason = failed.reason
            await self._tell(ask.ended(attempt, reason, started, now))
            place = f"{ask.place}/{attempt}"
            pause = pause_before_retry(self._policy, attempt, reason, self._seed, place)
            if pause is None:
                return Failure(failed)
            await self._clock.sleep_until(now + pause)
            attempt += 1

    async def _tell(self, seen: Observation) -> None:
        if self._line is not None:
            self._line.append(seen)
            await self._line.tell()

    async def sharing(self, work: Callable[[], Awaitable[R]]) -> R:
        """Do work whose calls share their connections."""
        before = self._keeper.offer()
        try:
            return await work()
        finally:
            KEEPER.set(before)
            await self._keeper.aclose()


def _model_error(error: Exception) -> ModelError:
    """What a model raised; any other exception is a fault in the model's own code."""
    if isinstance(error, ModelError):
        return error
    wrapped = ModelError(reason_of(error))
    wrapped.__cause__ = error
    return wrapped


def _json(what: str, given: Mapping[str, object] | None) -> JsonText | None:
    if given is None:
        return None
    try:
        return JsonText.of(given)
    except (TypeError, ValueError) as error:
        msg = f"{what}: expected provider_options that have a JSON form, got {error}"
        raise UsageError(msg) from error


def unwrapped(outcome: Outcome[R, ModelError]) -> R:
    """The answer, or its error raised."""
    match outcome:
        case Success(value):
            return value
        case Failure(error):
            raise error


def run_here(what: str, model: object, work: Callable[[], Coroutine[object, object, R]]) -> R:
    """Run a call in this thread, without any event loop.

    Raises:
        UsageError: the model is marked `async_only`, or waits for an event loop.
    """
    if getattr(model, "async_only", False):
        raise UsageError(f"{what}_sync: the model is marked async_only=True: use `await {what}(…)`")
    token = BLOCKING.set(True)
    coroutine = work()
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: R = done.value
        return result
    else:
        name = suspended_in(coroutine)
        coroutine.close()
        raise _needs_loop(what, name)
    finally:
        BLOCKING.reset(token)


def _needs_loop(what: str, name: str) -> UsageError:
    return UsageError(
        f"{what}_sync: {name} waits for an event loop; mark a model like this with "
        f"async_only = True, and use `await {what}(…)`"
    )
