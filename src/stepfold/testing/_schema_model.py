"""A model that calls tools as their schemas allow, and answers as it is asked to."""

import hashlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, final

from stepfold.loop import parts_of
from stepfold.ports import streamed
from stepfold.testing._fingerprint import fingerprint_of
from stepfold.values import (
    AssistantMessage,
    ModelReply,
    ModelRequest,
    StreamPart,
    UsageError,
    UserMessage,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

_TRIED: Final = 12


class Draw(Protocol):
    """What draws a value of a strategy: `data.draw` of hypothesis, or a `draw` of `composite`."""

    def __call__(self, strategy: "SearchStrategy[T]", /) -> T:
        """Draw one value."""
        ...


@final
class SchemaModel:
    """A `LanguageModel` whose replies are drawn by hypothesis, and keep to what it is asked.

    It calls the tools that it is offered, with arguments that satisfy their schemas, and gives an
    answer that satisfies the schema of the wanted output, if there is one; see `replies_to` of
    `stepfold.testing.strategies`. After `max_steps` replies to what a person said last, it calls no
    tool any more unless it has to.

    With `data.draw` the replies are part of what hypothesis tries, and shrink with it. Without,
    they are drawn from the seed and from what is asked: the same each time that a test runs. Either
    way a request that is made again, streamed or not, gets the same reply.

        model = SchemaModel(seed=3)              # in a plain test
        model = SchemaModel(data.draw)           # in a property, with data=st.data()

    Needs hypothesis (the extra `testing`).

    Raises:
        UsageError: a figure is negative, or hypothesis is not installed.
    """

    def __init__(
        self,
        draw: Draw | None = None,
        *,
        seed: int = 0,
        max_calls: int = 2,
        max_steps: int = 3,
        provider: str = "schema",
        model_id: str = "model",
    ) -> None:
        from stepfold.testing.conformance._drawn import require_hypothesis

        require_hypothesis("SchemaModel")
        for name, figure in {"max_calls": max_calls, "max_steps": max_steps}.items():
            if figure < 0:
                raise UsageError(f"{name}: expected a number from 0, got {figure!r}")
        self._draw: Final = draw
        self._seed: Final = seed
        self._max_calls: Final = max_calls
        self._max_steps: Final = max_steps
        self._provider: Final = provider
        self._model_id: Final = model_id
        self._replies: Final[dict[str, ModelReply]] = {}

    @property
    def provider(self) -> str:
        """Who is said to run the model."""
        return self._provider

    @property
    def model_id(self) -> str:
        """What the model is called."""
        return self._model_id

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        """Draw a reply.

        Raises:
            UsageError: a schema is not understood, or nothing was found that satisfies it.
        """
        return self._reply(request)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        """Draw a reply, and stream it; raises as `generate` does."""
        for part in parts_of(self._reply(request)):
            yield part

    def _reply(self, request: ModelRequest) -> ModelReply:
        fingerprint = fingerprint_of(request)
        if fingerprint not in self._replies:
            self._replies[fingerprint] = self._drawn(request, fingerprint)
        return self._replies[fingerprint]

    def _drawn(self, request: ModelRequest, fingerprint: str) -> ModelReply:
        from stepfold.testing.strategies import replies_to

        said = 0
        for message in reversed(request.messages):
            if isinstance(message, UserMessage):
                break
            said += isinstance(message, AssistantMessage)
        most = self._max_calls if said < self._max_steps else 0
        strategy = replies_to(request=request, max_calls=most)
        if self._draw is not None:
            return self._draw(strategy)
        digest = hashlib.sha256(f"{self._seed}/{fingerprint}".encode()).digest()
        return _drawn_by(strategy, int.from_bytes(digest[:8], "big"))


def _drawn_by(strategy: "SearchStrategy[T]", key: int) -> T:
    """Draw a value that depends on the key alone.

    Raises:
        UsageError: the strategy has none that is easily found.
    """
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis.errors import Unsatisfiable

    drawn: list[T] = []

    def note(value: T) -> None:
        drawn.append(value)

    tried = settings(
        max_examples=_TRIED,
        database=None,
        deadline=None,
        suppress_health_check=(
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
            HealthCheck.nested_given,
        ),
        phases=(Phase.generate,),
    )(seed(key)(given(strategy)(note)))
    try:
        tried()
    except Unsatisfiable:
        msg = "SchemaModel: found nothing that satisfies a schema of the request: script its reply"
        raise UsageError(msg) from None
    return drawn[key % len(drawn)]
