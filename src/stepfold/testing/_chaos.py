"""A model behind which the network is bad, in a way that can be repeated."""

import hashlib
import math
from collections import Counter
from collections.abc import AsyncGenerator
from typing import Final, Literal, TypeAlias, final

from attrs import evolve, frozen

from stepfold.codec import encode
from stepfold.ports import Clock, LanguageModel, streamed
from stepfold.testing._around import Around
from stepfold.testing._fingerprint import fingerprint_of, standard_form
from stepfold.testing._scripted import folded, position_in
from stepfold.values import (
    Finish,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    ReplyPart,
    StreamPart,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
    UsageError,
)

_SECOND: Final = 1_000_000_000
_MOST_PARTS: Final = 4

_Failure: TypeAlias = Literal["rate-limit", "timeout", "cut"]


@final
@frozen(order=False)
class _Attempt:
    """Where a request stands: what was said last, the step, and which attempt this is."""

    said: str
    step: int
    number: int


@final
class ChaosModel(Around):
    """A `LanguageModel` that asks another one, and fails now and then as networks do.

    Rates are shares of the attempts at model calls, from 0 to 1: `rate_limits` are refused with
    status 429 and `retry_after` seconds, `timeouts` time out, and the replies to `cuts` break off
    after some parts. `malformed` of the replies have tool calls whose arguments are no JSON, and
    `slow` of the streams pause for `pause` seconds before each part, on the `clock`.

    Of each step only the first `max_failures` attempts may fail. So a run with as many retries gets
    its answers, and without `malformed` arguments the very history that it would have had. The
    model inside is not asked for what is refused or times out, and an attempt that failed is not
    counted to it: a `ScriptedModel` gives what it would have given.

    What happens to a request depends on the seed, its step and attempt, and the last message: not
    on who asks first, nor on the run's id. So a run under chaos is the same each time.

        model = ChaosModel(ScriptedModel([reply("Hello.")]), seed=7, rate_limits=0.5)

    Raises:
        UsageError: a rate is none, those of failures are over 1 together, a figure is negative, or
            something is slow without a clock.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        seed: int,
        rate_limits: float = 0.1,
        timeouts: float = 0.1,
        cuts: float = 0.1,
        malformed: float = 0.0,
        slow: float = 0.0,
        retry_after: float | None = 1.0,
        pause: float = 0.1,
        max_failures: int = 2,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(model)
        rates = {"rate_limits": rate_limits, "timeouts": timeouts, "cuts": cuts}
        for name, rate in {**rates, "malformed": malformed, "slow": slow}.items():
            if not 0 <= rate <= 1:
                raise UsageError(f"{name}: expected a share from 0 to 1, got {rate!r}")
        if sum(rates.values()) > 1 + 1e-9:
            told = ", ".join(f"{name}={rate!r}" for name, rate in rates.items())
            raise UsageError(f"expected rates of failures that are 1 together at most, got {told}")
        figures = {"retry_after": retry_after or 0, "pause": pause, "max_failures": max_failures}
        for name, figure in figures.items():
            if not 0 <= figure < math.inf:
                raise UsageError(f"{name}: expected a figure that is not negative, got {figure!r}")
        if slow and clock is None:
            raise UsageError(
                "slow: expected a clock to wait on, such as a VirtualClock; give clock="
            )
        self._seed: Final = seed
        self._rates: Final = rates
        self._malformed: Final = malformed
        self._slow: Final = slow
        self._retry_after: Final = None if retry_after is None else int(retry_after * _SECOND)
        self._pause: Final = int(pause * _SECOND)
        self._max_failures: Final = max_failures
        self._clock: Final = clock
        self._unnamed: Final[Counter[str]] = Counter()

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Ask for a whole reply.

        Raises:
            ModelError: the model does, or chaos.
        """
        attempt = self._attempt(request)
        failure = self._failure(attempt)
        self._refuse(failure)
        asked = self._as_asked(request, attempt)
        if failure == "cut":
            seen: list[StreamPart] = []
            async with self._model.stream(asked) as parts:
                async for part in parts:
                    if self._is_cut(attempt, len(seen), part):
                        break
                    seen.append(part)
            return folded(seen)
        reply = await self._model.generate(asked)
        if not self._is_malformed(attempt):
            return reply
        return evolve(reply, content=tuple(map(_broken_call, reply.content)))

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        """Ask for a reply part by part; raises as the model does, or chaos."""
        attempt = self._attempt(request)
        failure = self._failure(attempt)
        self._refuse(failure)
        is_slow = self._draw("slow", attempt) < self._slow
        is_malformed = self._is_malformed(attempt)
        count = 0
        async with self._model.stream(self._as_asked(request, attempt)) as parts:
            async for part in parts:
                if failure == "cut" and self._is_cut(attempt, count, part):
                    return
                count += 1
                if is_slow and self._clock is not None:
                    await self._clock.sleep_until(self._clock.now() + self._pause)
                for piece in _malformed_pieces(part) if is_malformed else (part,):
                    yield piece

    def _attempt(self, request: ModelRequest) -> _Attempt:
        last = standard_form(ModelRequest(messages=request.messages[-1:]))
        said = hashlib.sha256(encode(last)).hexdigest()
        at = position_in(request.key)
        if at is not None:
            return _Attempt(said, at.step, at.total)
        fingerprint = fingerprint_of(request)
        self._unnamed[fingerprint] += 1
        return _Attempt(said, 0, self._unnamed[fingerprint] - 1)

    def _failure(self, attempt: _Attempt) -> _Failure | None:
        if attempt.number >= self._max_failures:
            return None
        left = self._draw("failure", attempt)
        kinds: tuple[tuple[_Failure, str], ...] = (
            ("rate-limit", "rate_limits"),
            ("timeout", "timeouts"),
            ("cut", "cuts"),
        )
        for kind, name in kinds:
            if left < self._rates[name]:
                return kind
            left -= self._rates[name]
        return None

    def _refuse(self, failure: _Failure | None) -> None:
        if failure == "rate-limit":
            raise ModelError(
                ModelErrorReason(
                    "rate-limit", "chaos: too many", status=429, retry_after=self._retry_after
                )
            )
        if failure == "timeout":
            raise ModelError(ModelErrorReason("timeout", "chaos: the server was silent"))

    def _as_asked(self, request: ModelRequest, attempt: _Attempt) -> ModelRequest:
        """The request as it would be if none of the attempts before had met chaos."""
        at = position_in(request.key)
        if at is None:
            return request
        met = sum(
            self._failure(evolve(attempt, number=number)) is not None
            for number in range(attempt.number)
        )
        return evolve(request, key=f"{at.run}/{at.step}/{at.total - met}") if met else request

    def _is_cut(self, attempt: _Attempt, place: int, part: StreamPart) -> bool:
        """Whether a stream breaks off before this part; a finish never comes."""
        most = 1 + int(self._draw("parts", attempt) * _MOST_PARTS)
        return place >= most or isinstance(part, Finish)

    def _is_malformed(self, attempt: _Attempt) -> bool:
        return self._draw("malformed", attempt) < self._malformed

    def _draw(self, what: str, attempt: _Attempt) -> float:
        """A number from 0 to 1, 1 left out: keyed by the seed and by where the request stands."""
        place = f"{self._seed}/{what}/{attempt.step}/{attempt.number}/{attempt.said}"
        digest = hashlib.sha256(place.encode()).digest()
        return int.from_bytes(digest[:6], "big") / (1 << 48)


def _malformed_pieces(part: StreamPart) -> tuple[StreamPart, ...]:
    """A part of a stream; the arguments of a call get what makes them no JSON, ahead of them."""
    match part:
        case ToolInputStart(call_id) if not part.provider_executed:
            return (part, ToolInputDelta(call_id, "{"))
        case ToolCall(_, _, text) if not part.provider_executed:
            return (evolve(part, input="{" + text),)
        case _:
            return (part,)


def _broken_call(part: ReplyPart) -> ReplyPart:
    if isinstance(part, ToolCall) and not part.provider_executed:
        return evolve(part, input="{" + part.input)
    return part
