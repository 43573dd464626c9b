"""Built-in middleware: however a reply comes, it is read the same, and leaving closes all."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import pairwise

import anyio
import anyio.lowlevel
import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from stepfold.codec import encode
from stepfold.loop import fold_parts, parts_of
from stepfold.ports import LanguageModel, Middleware, ModelStream, streamed
from stepfold.shell import (
    MemoryReplyStore,
    add_tool_input_examples,
    caching,
    default_instructions,
    default_settings,
    extract_json,
    extract_reasoning,
    limit_concurrency,
    limit_rate,
    logged,
    map_reply,
    map_request,
    simulate_streaming,
    wrap_language_model,
)
from stepfold.testing import ScriptedModel, VirtualClock, laws
from stepfold.testing.strategies import model_errors, model_replies
from stepfold.values import (
    CallSettings,
    Finish,
    FinishReason,
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamError,
    StreamPart,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolDefinition,
    UnifiedFinishReason,
    UserMessage,
)

REQUEST = ModelRequest(
    messages=(UserMessage("Go."),),
    tools=(ToolDefinition("look", "Look.", JsonText("{}"), input_examples=(JsonText('{"n":1}'),)),),
    key="r/0/0",
)


def reversed_texts(reply: ModelReply) -> ModelReply:
    content = (evolve(p, text=p.text[::-1]) if isinstance(p, Text) else p for p in reply.content)
    return evolve(reply, content=tuple(content))


def failing_log(line: str) -> None:
    raise ZeroDivisionError(line)


TRANSPARENT: dict[str, Callable[[], Middleware]] = {
    "defaults": default_settings,
    "instructions": lambda: default_instructions(""),
    "request": lambda: map_request(lambda request: request),
    "caching": lambda: caching(MemoryReplyStore()),
    "concurrency": lambda: limit_concurrency(1),
    "rate": lambda: limit_rate(1, 60, clock=VirtualClock()),
    "logged": lambda: logged(str),
    "wrapped": lambda: lambda model: wrap_language_model(model, model_id="model"),
}
"""Nothing of the parts tells that these are there, where there is nothing for them to do."""

OTHERS: dict[str, Callable[[], Middleware]] = {
    "settings": lambda: default_settings(
        settings=CallSettings(seed=1), headers={"X-A": "b"}, provider_options={"p": {"a": 1}}
    ),
    "examples": add_tool_input_examples,
    "reasoning": lambda: extract_reasoning(tag="t"),
    "starting": lambda: extract_reasoning(opening="<", closing=">", starts_with_reasoning=True),
    "json": extract_json,
    "transformed": lambda: extract_json(lambda text: text[::-1]),
    "simulated": simulate_streaming,
    "reply": lambda: map_reply(reversed_texts),
}
ALL = TRANSPARENT | OTHERS
each = pytest.mark.parametrize("layer", ALL.values(), ids=ALL)
each_transparent = pytest.mark.parametrize("layer", TRANSPARENT.values(), ids=TRANSPARENT)
layers = st.sampled_from([*ALL.values()])
on_both = pytest.mark.parametrize("backend", ["asyncio", "trio"])


class Scripted:
    """A model that says what it is told to, and knows whether a stream is open."""

    provider = "test"
    model_id = "scripted"

    def __init__(self, parts: Sequence[StreamPart]) -> None:
        self.parts = parts
        self.open = 0
        self.asked: list[ModelRequest] = []

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        self.asked.append(request)
        return fold_parts(self.parts)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        self.asked.append(request)
        self.open += 1
        try:
            for part in self.parts:
                yield part
        finally:
            self.open -= 1


# --- what models say --------------------------------------------------------------------------

_pieces = st.sampled_from(
    ["<t>", "</t>", "<", ">", "t", "/", "<t", "a", "b c", " ", "\n", "`", "``", "```", "````"]
    + ["json", "js", "{}", "é", "\ud83d", "\ude00"]
)
texts = st.lists(_pieces, max_size=12).map("".join)
options = st.none() | st.just(JsonText('{"p":{"i":1}}'))
contents = st.one_of(
    st.builds(Text, texts, provider_options=options),
    st.builds(Reasoning, texts, provider_options=options),
    st.just(ToolCall("x", "look", "{}")),
)
reasons: list[UnifiedFinishReason] = ["stop", "length", "error"]
replies = st.builds(
    ModelReply,
    st.lists(contents, max_size=4).map(tuple),
    st.sampled_from(reasons).map(FinishReason),
)


@st.composite
def streams(draw: st.DrawFn) -> list[StreamPart]:
    """A reply with its blocks in small pieces and interleaved; some blocks never end."""
    reply = draw(replies)
    lanes: list[list[StreamPart]] = []
    for index, part in enumerate(reply.content):
        block = draw(st.sampled_from([str(index), f"reasoning-{index}"]))
        lane: list[StreamPart] = []
        for piece in parts_of(ModelReply((part,), reply.finish_reason))[1:-1]:
            if isinstance(piece, TextDelta | ReasoningDelta):
                text = piece.delta
                ends = draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
                cuts = pairwise([0, *ends, len(text)])
                lane += [evolve(piece, id=block, delta=text[a:b]) for a, b in cuts]
            elif isinstance(piece, TextStart | TextEnd | ReasoningStart | ReasoningEnd):
                lane.append(evolve(piece, id=block))
            elif isinstance(piece, ToolCall):  # ids are unique within one reply
                lane.append(evolve(piece, tool_call_id=f"x{index}"))
        if draw(st.integers(0, 9)) == 0 and isinstance(lane[-1], TextEnd):
            lane.pop()
        lanes.append(lane)
    parts: list[StreamPart] = [StreamStart()]
    while any(lanes):
        lane = lanes[draw(st.integers(0, len(lanes) - 1))]
        if lane:
            parts.append(lane.pop(0))
    return [*parts, Finish(reply.finish_reason)]


async def shown(layer: Middleware, parts: Sequence[StreamPart]) -> list[StreamPart]:
    async with layer(Scripted(parts)).stream(REQUEST) as stream:
        return [part async for part in stream]


# --- the laws of all of them ------------------------------------------------------------------


@each
@given(parts=streams())
@example(parts=[TextStart("0"), TextDelta("0", "a<t>b"), Finish(FinishReason("stop"))])
@example(
    parts=[TextStart("0"), TextDelta("0", "```js"), TextEnd("0"), Finish(FinishReason("stop"))]
)
def test_generating_is_the_fold_of_streaming(
    layer: Callable[[], Middleware], parts: list[StreamPart]
) -> None:
    """Law 7, however the inner stream is cut and interleaved."""

    async def check() -> None:
        await laws.generate_is_the_folded_stream(layer()(Scripted(parts)), REQUEST)
        laws.fold_ignores_chunks(
            await shown(layer(), parts), await shown(layer(), parts_of(fold_parts(parts)))
        )

    anyio.run(check)


@given(layers, model_replies(tools=("look",)) | model_errors())
def test_any_reply_and_any_failure_come_through(
    layer: Callable[[], Middleware], answer: ModelReply | ModelErrorReason
) -> None:
    async def check() -> None:
        model = layer()(ScriptedModel([answer] * 2))
        await laws.generate_is_the_folded_stream(model, REQUEST)

    anyio.run(check)


@given(layers, streams(), st.integers(0, 12))
def test_leaving_at_any_part_closes_the_stream(
    layer: Callable[[], Middleware], parts: list[StreamPart], after: int
) -> None:
    async def check() -> None:
        model = Scripted(parts)
        async with layer()(model).stream(REQUEST) as stream:
            for _ in range(after):
                await anext(stream, None)

        assert model.open == 0

    anyio.run(check)


@given(layers, layers, layers, model_replies(tools=("look",)) | model_errors())
def test_they_compose(
    first: Callable[[], Middleware],
    second: Callable[[], Middleware],
    third: Callable[[], Middleware],
    answer: ModelReply | ModelErrorReason,
) -> None:
    """Law 11; each way to ask has layers of its own, since a cache gives a stream what was said."""

    def anew(layer: Callable[[], Middleware]) -> Middleware:
        return lambda inner: _Anew(layer, inner)

    async def check() -> None:
        model = ScriptedModel([answer] * 20)
        request = evolve(REQUEST, key="")
        await laws.middleware_is_a_monoid(anew(first), anew(second), anew(third), model, request)

    anyio.run(check)


@each_transparent
@given(parts=streams())
def test_what_has_nothing_to_do_is_not_seen(
    layer: Callable[[], Middleware], parts: list[StreamPart]
) -> None:
    async def check() -> None:
        assert await shown(layer(), parts) == parts
        broken = [*parts[:-1], StreamError(ModelErrorReason("server", "Broken."))]
        assert await shown(layer(), broken) == broken

    anyio.run(check)


@given(st.sampled_from([*TRANSPARENT.values()]), model_replies(tools=("look",)) | model_errors())
def test_transparent_ones_can_be_left_out(
    layer: Callable[[], Middleware], answer: ModelReply | ModelErrorReason
) -> None:
    async def check() -> None:
        model = ScriptedModel([answer] * 4)
        # One layer for each way to ask, since a cache gives a stream what was generated.
        middleware: Middleware = lambda inner: _Anew(layer, inner)  # noqa: E731
        await laws.middleware_is_transparent(middleware, model, evolve(REQUEST, key=""))

    anyio.run(check)


class _Anew:
    """Puts a new layer around the model for each call."""

    def __init__(self, layer: Callable[[], Middleware], inner: LanguageModel) -> None:
        self.provider = inner.provider
        self.model_id = inner.model_id
        self._layer = layer
        self._inner = inner

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return await self._layer()(self._inner).generate(request)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        async with self._layer()(self._inner).stream(request) as parts:
            async for part in parts:
                yield part


# --- what each does ---------------------------------------------------------------------------


def read(layer: Middleware, text: str) -> ModelReply:
    async def generated() -> ModelReply:
        model = Scripted(parts_of(ModelReply((Text(text),), FinishReason("stop"))))
        return await layer(model).generate(REQUEST)

    return anyio.run(generated)


@given(texts)
def test_reasoning_and_text_are_all_that_was_said(text: str) -> None:
    """Between the tags of an empty separator nothing is lost, and nothing is told twice."""
    text = text.replace("\ud83d", "").replace("\ude00", "")
    reply = read(extract_reasoning(tag="t", separator=""), text)
    stretches = re.findall(r"(.*?)(?:<t>(.*?)(?:</t>|\Z)|\Z)", text, re.DOTALL)

    assert "".join(p.text for p in reply.content if isinstance(p, Text)) == "".join(
        outside for outside, _ in stretches
    )
    assert "".join(p.text for p in reply.content if isinstance(p, Reasoning)) == "".join(
        inside for _, inside in stretches
    )


@given(texts)
def test_fences_are_taken_as_the_patterns_say(text: str) -> None:
    text = text.replace("\ud83d", "").replace("\ude00", "")
    bare = re.sub(r"^```(?:json)?", "", text.strip()).strip()
    expected = re.sub(r"```$", "", bare).strip()

    assert "".join(p.text for p in read(extract_json(), text).content if isinstance(p, Text)) == (
        expected
    )


@given(streams(), st.lists(st.booleans(), min_size=2, max_size=4))
def test_what_was_answered_is_answered_again(parts: list[StreamPart], ways: list[bool]) -> None:
    """Whole or streamed, first or later: one reply, and one question if it is kept."""
    model = Scripted(parts)
    cached = caching(MemoryReplyStore())(model)

    async def asked(number: int, *, is_streamed: bool) -> ModelReply:
        request = evolve(REQUEST, key=f"r/{number}/0")
        if not is_streamed:
            return fold_parts(parts_of(await cached.generate(request)))
        async with cached.stream(request) as stream:
            return fold_parts([part async for part in stream])

    async def check() -> None:
        replies = [await asked(number, is_streamed=way) for number, way in enumerate(ways)]
        assert all(encode(one) == encode(replies[0]) for one in replies)
        is_kept = replies[0].finish_reason.unified != "error"
        assert len(model.asked) == (1 if is_kept else len(ways))

    anyio.run(check)


@given(streams(), st.integers(0, 12), model_errors())
def test_what_is_no_whole_reply_is_not_kept(
    parts: list[StreamPart], after: int, error: ModelErrorReason
) -> None:
    store = MemoryReplyStore()

    async def check() -> None:
        async with caching(store)(Scripted(parts)).stream(REQUEST) as stream:
            for _ in range(min(after, len(parts) - 1)):
                await anext(stream)
        broken = Scripted([*parts[:-1], StreamError(error)])
        await shown(caching(store), broken.parts)
        with pytest.raises(ModelError):
            await caching(store)(broken).generate(REQUEST)

    anyio.run(check)

    assert len(store) == 0


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12), st.integers(1, 3))
def test_no_stretch_has_more_calls_than_its_rate(pauses: list[int], count: int) -> None:
    clock = VirtualClock(0)
    begun: list[int] = []

    async def check() -> None:
        parts = parts_of(ModelReply((), FinishReason("stop")))
        model = limit_rate(count, 10, clock=clock)(Scripted(parts))
        for pause in pauses:
            clock.advance(pause)
            await model.generate(REQUEST)
            begun.append(clock.now())

    anyio.run(check)

    late = zip(begun, begun[count:], strict=False)
    assert all(second - first >= 10_000_000_000 for first, second in late)


@on_both
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8),
)
def test_places_are_never_lost_and_never_shared(
    backend: str, count: int, callers: list[tuple[int, bool]]
) -> None:
    """Callers that are cancelled at any point give back what they hold."""
    at_work: list[int] = []
    most: list[int] = [0]

    class Busy:
        provider = "test"
        model_id = "busy"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            at_work.append(1)
            most[0] = max(most[0], len(at_work))
            try:
                for _ in range(3):
                    await anyio.lowlevel.checkpoint()
                return ModelReply((), FinishReason("stop"))
            finally:
                at_work.pop()

        def stream(self, request: ModelRequest, /) -> ModelStream:
            raise NotImplementedError

    limited = limit_concurrency(count)(Busy())

    async def ask() -> None:
        await limited.generate(REQUEST)

    async def call(turns: int, *, is_cancelled: bool) -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                for _ in range(turns):
                    await anyio.lowlevel.checkpoint()
                if is_cancelled:
                    scope.cancel()

    async def check() -> None:
        async with anyio.create_task_group() as group:
            for turns, is_cancelled in callers:
                group.start_soon(lambda t, c: call(t, is_cancelled=c), turns, is_cancelled)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                for _ in range(count):
                    group.start_soon(ask)

    anyio.run(check, backend=backend)

    assert at_work == []
    assert most[0] <= count
