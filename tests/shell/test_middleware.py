from collections.abc import AsyncGenerator
from contextlib import suppress

import anyio
import pytest
from attrs import evolve, fields

from stepfold.agent import Agent
from stepfold.loop import Program, begin, fold_parts, parts_of
from stepfold.ports import KEEPER, Keeper, LanguageModel, Middleware, ModelStream, streamed
from stepfold.shell import (
    MemoryReplyStore,
    Runtime,
    add_tool_input_examples,
    caching,
    default_instructions,
    default_settings,
    drive_sync,
    extract_json,
    extract_reasoning,
    limit_concurrency,
    limit_rate,
    logged,
    map_reply,
    map_request,
    simulate_streaming,
    tool,
    wrap_language_model,
)
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    ApprovalRequest,
    AssistantMessage,
    CallSettings,
    Finish,
    FinishReason,
    JsonText,
    Message,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Ping,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyPart,
    ResponseInfo,
    StreamError,
    StreamPart,
    StreamStart,
    SystemMessage,
    Text,
    TextDelta,
    TextEnd,
    TextOutput,
    TextStart,
    ToolCall,
    ToolDefinition,
    ToolError,
    ToolMessage,
    ToolResult,
    Usage,
    UsageError,
    UserMessage,
)

STOP = FinishReason("stop")
REQUEST = ModelRequest(messages=(UserMessage("Go."),))


class Told:
    """A model that says what it is told to, and keeps what it was asked."""

    provider = "test"
    model_id = "told"

    def __init__(self, *parts: StreamPart) -> None:
        self.parts = parts
        self.asked: list[ModelRequest] = []

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        self.asked.append(request)
        return fold_parts(self.parts)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        self.asked.append(request)
        for part in self.parts:
            yield part


def saying(*pieces: str) -> Told:
    deltas = [TextDelta("0", piece) for piece in pieces]
    return Told(TextStart("0"), *deltas, TextEnd("0"), Finish(STOP))


async def parts_from(model: LanguageModel, request: ModelRequest = REQUEST) -> list[StreamPart]:
    async with model.stream(request) as parts:
        return [part async for part in parts]


async def content(model: LanguageModel) -> tuple[ReplyPart, ...]:
    """What is answered, after a look at whether streaming gives the same."""
    generated = await model.generate(REQUEST)
    assert fold_parts(await parts_from(model)) == fold_parts(parts_of(generated))
    return generated.content


async def asked_by(layered: LanguageModel, told: Told, request: ModelRequest) -> ModelRequest:
    """What the inner model is asked, both ways."""
    await layered.generate(request)
    await parts_from(layered, request)
    assert told.asked[-1] == told.asked[-2]
    return told.asked[-1]


# --- wrapping ---------------------------------------------------------------------------------


async def test_wrapping_renames_and_puts_the_first_outermost() -> None:
    def signed(letter: str) -> Middleware:
        return map_reply(lambda it: evolve(it, content=(*it.content, Text(letter))))

    model = wrap_language_model(saying("-"), signed("a"), signed("b"), model_id="mine")

    assert (model.provider, model.model_id) == ("test", "mine")
    assert await content(model) == (Text("-"), Text("b"), Text("a"))
    assert wrap_language_model(saying(), provider="us").provider == "us"
    assert wrap_language_model(saying(), provider="us").model_id == "told"


def test_wrapping_in_nothing_gives_the_model_itself() -> None:
    model = saying()

    assert wrap_language_model(model) is model


def test_wrapping_does_not_hide_that_a_model_needs_an_event_loop() -> None:
    class Marked(Told):
        async_only = True

    def mark(model: LanguageModel) -> object:
        return getattr(model, "async_only", None)

    assert mark(wrap_language_model(Marked(), default_settings(), provider="us")) is True
    assert mark(limit_rate(1, 1)(saying())) is False


async def test_no_layer_loses_what_the_calls_of_a_run_share() -> None:
    """Whoever opens a connection finds the keeper of the run, however it is wrapped."""
    keepers: list[Keeper | None] = []

    class Asking:
        provider = "test"
        model_id = "asking"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            keepers.append(KEEPER.get())
            return fold_parts(told)

        @streamed
        async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
            for part in told:
                keepers.append(KEEPER.get())
                yield part

    told = saying("hi").parts
    model = wrap_language_model(
        Asking(),
        logged(str),
        caching(MemoryReplyStore()),
        limit_concurrency(1),
        limit_rate(9, 1),
        extract_reasoning(tag="t"),
        extract_json(),
        map_reply(lambda given: given),
        default_settings(),
        provider="us",
    )
    await Agent(model=model).generate("Go.")
    async with Agent(model=model).stream("Go, again.") as stream:
        await stream.run()

    assert len(keepers) == 1 + len(told)
    assert None not in keepers
    assert len(set(map(id, keepers))) == 2


# --- one hook ---------------------------------------------------------------------------------


async def test_a_request_is_changed_whichever_way_the_model_is_asked() -> None:
    told = saying("hi")
    model = map_request(lambda request: evolve(request, instructions="Rhyme."))(told)

    assert (await asked_by(model, told, REQUEST)).instructions == "Rhyme."


async def test_a_reply_is_changed_when_it_is_whole_and_pings_pass_at_once() -> None:
    told = Told(Ping(), TextStart("x"), TextDelta("x", "a"), TextDelta("x", "b"), Finish(STOP))
    model = map_reply(lambda given: evolve(given, usage=Usage(1, 2)))(told)

    assert await content(model) == (Text("ab"),)
    assert await parts_from(model) == [
        Ping(),
        StreamStart(),
        TextStart("0"),
        TextDelta("0", "ab"),
        TextEnd("0"),
        Finish(STOP, Usage(1, 2)),
    ]


async def test_streaming_is_simulated_by_generating() -> None:
    class Whole:
        provider = "test"
        model_id = "whole"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            return fold_parts(parts)

        def stream(self, request: ModelRequest, /) -> ModelStream:
            raise NotImplementedError

    parts = parts_of(reply(Reasoning("Hm."), "Yes.", call("look", id="c1")))

    assert await parts_from(simulate_streaming()(Whole())) == list(parts)


@pytest.mark.parametrize(
    "layer",
    [
        map_reply(lambda given: given),
        simulate_streaming(),
        extract_reasoning(tag="t"),
        extract_json(),
        caching(MemoryReplyStore()),
    ],
    ids=["reply", "simulated", "reasoning", "json", "caching"],
)
async def test_a_run_names_its_calls_alike_however_it_is_asked(layer: Middleware) -> None:
    asks = reply(call("look"), call("look"), call("look", id="a"), call("look", id="a"))
    agent = Agent(model=layer(ScriptedModel([asks, reply("done")])), tools=[look])

    generated = await agent.generate("Go.", run_id="r")
    async with agent.stream("Go.", run_id="r") as stream:
        streamed_run = await stream.run()

    assert streamed_run.messages == generated.messages
    assert len({it.tool_call_id for it in generated.steps[0].tool_calls}) == 4


async def test_calls_without_an_id_stay_without_whatever_answers_them() -> None:
    asked = ToolCall("", "search", "{}", provider_executed=True)
    answers = (
        ToolResult("", "search", TextOutput("found"), provider_executed=True),
        ToolError("", "search", "lost", provider_executed=True),
        ApprovalRequest("a", ""),
    )
    said = reply(asked, *answers)

    assert await content(map_reply(lambda given: given)(ScriptedModel([said] * 2))) == said.content


@tool
async def look() -> str:
    return "nothing"


# --- defaults ---------------------------------------------------------------------------------

EVERY = CallSettings(
    max_output_tokens=1,
    temperature=0.1,
    top_p=0.2,
    top_k=2,
    presence_penalty=0.3,
    frequency_penalty=0.4,
    stop_sequences=("a",),
    seed=3,
    reasoning="low",
)


async def test_default_settings_fill_each_gap_and_nothing_else() -> None:
    told = saying()
    model = default_settings(settings=EVERY)(told)
    assert all(getattr(EVERY, it.name) not in {None, ()} for it in fields(CallSettings))
    own = CallSettings(temperature=0, stop_sequences=("b",), reasoning="none")

    assert (await asked_by(model, told, REQUEST)).settings == EVERY
    asked = await asked_by(model, told, evolve(REQUEST, settings=own))
    assert asked.settings == evolve(EVERY, temperature=0, stop_sequences=("b",), reasoning="none")


async def test_headers_of_the_request_win_whatever_their_case() -> None:
    told = saying()
    model = default_settings(headers={"X-Team": "a", "X-Trace": "1"})(told)
    request = evolve(REQUEST, headers=(("x-team", "b"),))

    assert (await asked_by(model, told, request)).headers == (("X-Trace", "1"), ("x-team", "b"))


async def test_provider_options_are_merged_at_every_depth_and_arrays_replaced() -> None:
    told = saying()
    given = {"p": {"a": {"x": 1, "y": 2}, "list": [1, 2]}, "q": {"only": True}}
    model = default_settings(provider_options=given)(told)
    own = JsonText.of({"p": {"a": {"y": 3}, "list": [9], "b": None}, "r": {}})

    asked = await asked_by(model, told, evolve(REQUEST, provider_options=own))
    assert asked.provider_options == JsonText.of(
        {
            "p": {"a": {"x": 1, "y": 3}, "list": [9], "b": None},
            "q": {"only": True},
            "r": {},
        }
    )
    assert (await asked_by(model, told, REQUEST)).provider_options == JsonText.of(given)
    plain = await asked_by(default_settings()(told), told, evolve(REQUEST, provider_options=own))
    assert plain.provider_options is own


def test_provider_options_without_a_json_form_are_refused() -> None:
    with pytest.raises(UsageError, match="provider_options: expected what has a JSON form"):
        default_settings(provider_options={"p": object()})


async def test_default_instructions_give_way_to_any_others() -> None:
    told = saying()
    model = default_instructions("Be brief.")(told)
    own = evolve(REQUEST, instructions="Be long.")
    as_message = evolve(REQUEST, messages=(SystemMessage("Rhyme."), UserMessage("Go.")))

    assert (await asked_by(model, told, REQUEST)).instructions == "Be brief."
    assert await asked_by(model, told, own) == own
    assert await asked_by(model, told, as_message) == as_message


EXAMPLES = (JsonText('{"b": 1, "a": "ü"}'), JsonText("{}"))
LOOK = ToolDefinition("look", "Look.", JsonText("{}"), input_examples=EXAMPLES)


async def test_input_examples_are_written_into_the_description() -> None:
    told = saying()
    plain = ToolDefinition("plain", "Plain.", JsonText("{}"))
    request = evolve(REQUEST, tools=(LOOK, evolve(LOOK, description=""), plain))

    look, bare, same = (await asked_by(add_tool_input_examples()(told), told, request)).tools
    assert look.description == 'Look.\n\nInput Examples:\n{"b":1,"a":"ü"}\n{}'
    assert look.input_examples == ()
    assert bare.description.startswith("Input Examples:\n")
    assert same is plain


async def test_input_examples_may_stay_and_be_written_in_another_form() -> None:
    told = saying()
    layer = add_tool_input_examples(prefix="So:", format=lambda it: f"- {it.text}", remove=False)

    (look,) = (await asked_by(layer(told), told, evolve(REQUEST, tools=(LOOK,)))).tools
    assert look.description == 'Look.\n\nSo:\n- {"b": 1, "a": "ü"}\n- {}'
    assert look.input_examples == EXAMPLES


# --- reasoning --------------------------------------------------------------------------------


async def test_reasoning_between_tags_comes_out_as_it_streams() -> None:
    model = extract_reasoning(tag="think")(saying("<th", "ink>Hm", ".</thi", "nk>Yes", "."))

    assert await parts_from(model) == [
        ReasoningStart("reasoning-0"),
        ReasoningDelta("reasoning-0", "Hm"),
        ReasoningDelta("reasoning-0", "."),
        ReasoningEnd("reasoning-0"),
        TextStart("0"),
        TextDelta("0", "Yes"),
        TextDelta("0", "."),
        TextEnd("0"),
        Finish(STOP),
    ]
    assert await content(model) == (Reasoning("Hm."), Text("Yes."))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain <b>", [Text("plain <b>")]),
        ("a<t>x</t>b", [Text("a\nb"), Reasoning("x")]),
        ("<t>x</t>a<t>y</t>b", [Reasoning("x"), Text("a\nb"), Reasoning("\ny")]),
        ("<t></t>a", [Text("a")]),
        ("<t>x</t>", [Reasoning("x")]),
        ("<t>cut", [Reasoning("cut")]),
        ("a</t>b", [Text("a</t>b")]),
        ("a<", [Text("a<")]),
        ("<<t>x</t>", [Text("<"), Reasoning("x")]),
        ("", []),
    ],
)
async def test_what_is_reasoning(text: str, expected: list[ReplyPart]) -> None:
    layer = extract_reasoning(tag="t")

    assert await content(layer(saying(*text))) == tuple(expected)
    assert await content(layer(saying(text))) == tuple(expected)


async def test_a_reply_may_begin_within_reasoning() -> None:
    layer = extract_reasoning(opening="[[", closing="]]", starts_with_reasoning=True, separator=" ")

    assert await content(layer(saying("Hm.]]Yes.[[But]]no."))) == (
        Reasoning("Hm."),
        Text("Yes. no."),
        Reasoning(" But"),
    )


async def test_content_waits_for_the_block_before_it_and_ids_stay_apart() -> None:
    told = Told(
        TextStart("a", provider_options=JsonText("{}")),
        ReasoningStart("reasoning-0"),
        ReasoningDelta("reasoning-0", "own"),
        ReasoningEnd("reasoning-0"),
        TextStart("b"),
        TextDelta("a", "<t>x</t>"),
        TextDelta("b", "<t>y"),
        TextEnd("a"),
        call("look", id="c1"),
        TextDelta("b", "</t>z"),
        Finish(STOP),
    )

    assert await content(extract_reasoning(tag="t")(told)) == (
        Reasoning("x"),
        Text("", provider_options=JsonText("{}")),
        Reasoning("own"),
        Reasoning("y"),
        Text("z"),
        call("look", id="c1"),
    )


async def test_a_block_that_starts_twice_stays_a_fault() -> None:
    told = Told(TextStart("0"), TextStart("0"), Finish(STOP))

    with pytest.raises(ModelError, match="started twice"):
        fold_parts(await parts_from(extract_reasoning(tag="t")(told)))


@pytest.mark.parametrize(
    ("tag", "opening", "closing"),
    [
        ("", None, None),
        (None, None, None),
        ("t", "<", ">"),
        (None, "<", None),
        (None, "", ">"),
        (None, "<", ""),
    ],
)
def test_delimiters_are_either_a_tag_or_a_pair(
    tag: str | None, opening: str | None, closing: str | None
) -> None:
    with pytest.raises(UsageError, match="extract_reasoning: expected"):
        extract_reasoning(tag=tag, opening=opening, closing=closing)


# --- JSON -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('  ```\n{"a": 1}\n```\n', '{"a": 1}'),
        ('{"a": "``"}', '{"a": "``"}'),
        ("{} ``", "{} ``"),
        ("{}````", "{}`"),
        ("```js", "js"),
        ("``", "``"),
        ("```json\n", ""),
        ("``` ```", ""),
        ("", ""),
    ],
)
async def test_fences_are_taken_away(text: str, expected: str) -> None:
    content_expected = (Text(expected),) if expected else ()

    assert await content(extract_json()(saying(*text))) == content_expected
    assert await content(extract_json()(saying(text))) == content_expected


async def test_only_what_may_be_a_fence_is_held_back() -> None:
    parts = await parts_from(extract_json()(saying("``", "`json\n", '{"a":', " 1}\n", "``", "`")))

    assert [part.delta for part in parts if isinstance(part, TextDelta)] == ['{"a":', " 1}"]


async def test_a_transform_gets_each_text_whole() -> None:
    model = extract_json(lambda text: text.strip("~"))(saying("~~{", "}~"))

    assert await content(model) == (Text("{}"),)
    assert [p.delta for p in await parts_from(model) if isinstance(p, TextDelta)] == ["{}"]


# --- caching ----------------------------------------------------------------------------------

ANSWER = evolve(
    reply("Yes.", call("look", id="c1"), usage=(1, 2)),
    response=ResponseInfo("id-1", headers=(("a", "b"),)),
)


async def test_the_same_request_is_asked_once_and_streamed_from_the_store() -> None:
    told = Told(*parts_of(ANSWER))
    model = caching(MemoryReplyStore())(told)

    assert await model.generate(evolve(REQUEST, key="r/0/0")) == ANSWER
    assert await model.generate(evolve(REQUEST, key="s/0/0")) == ANSWER
    assert await parts_from(model) == list(parts_of(ANSWER))
    assert len(told.asked) == 1


@pytest.mark.parametrize(
    "other",
    [
        evolve(REQUEST, instructions="Rhyme."),
        evolve(REQUEST, settings=CallSettings(seed=1)),
        evolve(REQUEST, tools=(LOOK,)),
        evolve(REQUEST, headers=(("x-tenant", "b"),)),
        evolve(REQUEST, provider_options=JsonText("{}")),
    ],
)
async def test_another_request_is_another_question(other: ModelRequest) -> None:
    told = Told(*parts_of(ANSWER))
    model = caching(MemoryReplyStore())(told)

    await model.generate(REQUEST)
    await model.generate(other)

    assert len(told.asked) == 2


async def test_models_of_other_names_share_a_store_and_no_replies() -> None:
    store = MemoryReplyStore()
    one = wrap_language_model(saying("one"), model_id="one")
    other = wrap_language_model(saying("other"), model_id="other")

    assert await content(caching(store)(one)) == (Text("one"),)
    assert await content(caching(store)(other)) == (Text("other"),)
    assert len(store) == 2


@pytest.mark.parametrize("reason", ["error", "interrupted"])
async def test_what_went_wrong_is_not_kept(reason: str) -> None:
    store = MemoryReplyStore()
    finish = FinishReason("error" if reason == "error" else "interrupted")
    cut = Told(*parts_of(ModelReply((Text("a"),), finish)))
    broken = Told(TextStart("0"), StreamError(ModelErrorReason("server", "Broken.")))
    late = Told(Finish(STOP), Ping())

    await caching(store)(cut).generate(REQUEST)
    for told in (cut, broken, late):
        assert await parts_from(caching(store)(told)) == list(told.parts)

    assert len(store) == 0


async def test_a_stream_is_kept_when_its_finish_is_shown() -> None:
    store = MemoryReplyStore()
    async with caching(store)(saying("a", "b")).stream(REQUEST) as parts:
        async for part in parts:
            if isinstance(part, Finish):
                break
            assert len(store) == 0

    assert len(store) == 1


async def test_what_cannot_be_read_is_asked_again() -> None:
    told = Told(*parts_of(ANSWER))
    store = Damaged()

    assert await caching(store)(told).generate(REQUEST) == ANSWER
    assert len(store.put_keys) == 1


class Damaged:
    """Gives what cannot be read, and remembers what was put."""

    def __init__(self) -> None:
        self.put_keys: list[str] = []

    async def get(self, key: str, /) -> bytes | None:
        return b"{}"

    async def put(self, key: str, value: bytes, /) -> None:
        self.put_keys.append(key)


async def test_the_reply_that_was_unused_for_longest_goes_first() -> None:
    store = MemoryReplyStore(2)
    for key in ("a", "b"):
        await store.put(key, b"1")
    await store.get("a")
    await store.put("c", b"1")

    assert [await store.get(key) for key in "abc"] == [b"1", None, b"1"]
    with pytest.raises(UsageError, match="max_replies: expected at least 1"):
        MemoryReplyStore(0)


# --- waiting ----------------------------------------------------------------------------------


class Slow:
    """A model whose calls last until they are let go, in the order of asking."""

    provider = "test"
    model_id = "slow"

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.gates: dict[str, anyio.Event] = {}

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        self.begun.append(request.key)
        gate = self.gates[request.key] = anyio.Event()
        await gate.wait()
        return reply("done")

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        self.begun.append(request.key)
        for part in parts_of(reply("done")):
            yield part


async def test_calls_wait_for_a_place_in_order_and_cancelling_gives_it_back() -> None:
    slow = Slow()
    model = limit_concurrency(1)(slow)
    scopes: dict[str, anyio.CancelScope] = {}

    async def ask(key: str) -> None:
        with anyio.CancelScope() as scopes[key]:
            await model.generate(evolve(REQUEST, key=key))

    async with anyio.create_task_group() as group:
        for key in "abcd":
            group.start_soon(ask, key)
            await anyio.wait_all_tasks_blocked()
        assert slow.begun == ["a"]
        scopes["b"].cancel()  # one that waits
        await anyio.wait_all_tasks_blocked()
        scopes["a"].cancel()  # one that is at work
        await anyio.wait_all_tasks_blocked()
        assert slow.begun == ["a", "c"]
        slow.gates["c"].set()
        await anyio.wait_all_tasks_blocked()
        assert slow.begun == ["a", "c", "d"]
        slow.gates["d"].set()


async def test_a_stream_keeps_its_place_until_it_is_left() -> None:
    slow = Slow()
    model = limit_concurrency(1)(slow)

    async with anyio.create_task_group() as group:
        async with model.stream(evolve(REQUEST, key="a")) as parts:
            await anext(parts)
            group.start_soon(parts_from, model, evolve(REQUEST, key="b"))
            await anyio.wait_all_tasks_blocked()
            assert slow.begun == ["a"]
        await anyio.wait_all_tasks_blocked()

    assert slow.begun == ["a", "b"]


def test_one_limit_serves_one_event_loop_after_another_and_none() -> None:
    model = limit_rate(9, 1)(limit_concurrency(1)(ScriptedModel([reply("done")] * 9)))

    async def ask() -> ModelReply:
        return await model.generate(REQUEST)

    for backend in ("asyncio", "trio", "asyncio"):
        assert anyio.run(ask, backend=backend) == reply("done")


def test_limits_and_caches_need_no_event_loop() -> None:
    scripted = ScriptedModel([reply("done")] * 2)
    layers = (logged(str), caching(MemoryReplyStore()), limit_concurrency(1), limit_rate(1, 0.001))
    model = wrap_language_model(scripted, *layers)
    program = Program(models=("scripted/model",))

    for run in ("a", "b"):
        started = begin(program, [UserMessage("Go.")], run=run, seed=0, at=0)
        state = drive_sync(program, started, Runtime(models=[model]))
        assert state.steps[-1].text == "done"

    assert len(scripted.requests) == 1


async def test_calls_wait_until_the_stretch_has_slid_on() -> None:
    clock = VirtualClock(0)
    model = limit_rate(2, 10, clock=clock)(ScriptedModel([reply("done")] * 5))
    begun: list[int] = []

    for _ in range(5):
        await model.generate(REQUEST)
        begun.append(clock.now() // 1_000_000_000)
        clock.advance(1)

    assert begun == [0, 1, 10, 11, 20]


async def test_who_stops_waiting_for_a_turn_takes_none() -> None:
    slow = Slow()
    model = limit_rate(1, 0.2)(slow)

    async def ask(key: str) -> None:
        await model.generate(evolve(REQUEST, key=key))

    async with anyio.create_task_group() as group:
        group.start_soon(ask, "a")
        await anyio.wait_all_tasks_blocked()
        with anyio.move_on_after(0.01):
            await ask("b")
        with anyio.fail_after(5):
            await parts_from(model, evolve(REQUEST, key="c"))
        slow.gates["a"].set()

    assert slow.begun == ["a", "c"]


@pytest.mark.parametrize("calls", [0, -1])
def test_limits_are_positive(calls: int) -> None:
    with pytest.raises(UsageError, match="at least 1 call"):
        limit_concurrency(calls)
    with pytest.raises(UsageError, match="at least 1 request"):
        limit_rate(calls, 1)
    for length in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError, match="per_seconds"):
            limit_rate(1, length)


# --- logging ----------------------------------------------------------------------------------

SECRET = "sk-proj-abcdefghijklmnop"


async def told_of(
    model: LanguageModel, request: ModelRequest = REQUEST, text_length: int = 80
) -> list[str]:
    lines: list[str] = []
    layer = logged(lines.append, text_length=text_length, clock=VirtualClock(0))
    with suppress(ModelError):
        await layer(model).generate(request)
    return lines


async def test_a_line_for_the_question_and_one_for_the_answer() -> None:
    lines: list[str] = []
    model = logged(lines.append, clock=VirtualClock(0))(Told(*parts_of(ANSWER)))
    await model.generate(evolve(REQUEST, key="r/0/0", tools=(LOOK,)))
    await parts_from(model)

    assert lines == [
        "test/told generate: 1 message, 1 tool, key r/0/0, user 'Go.'",
        "test/told tool-calls after 0.00 s, 1+2 tokens, calls look, 'Yes.'",
        "test/told stream: 1 message, user 'Go.'",
        "test/told tool-calls after 0.00 s, 1+2 tokens, calls look, 'Yes.'",
    ]


async def test_failures_are_told_with_their_reason() -> None:
    reason = ModelErrorReason("rate-limit", f"Slow down, Bearer {SECRET}")
    lines = await told_of(ScriptedModel([reason]))

    assert lines[1] == "scripted/model failed after 0.00 s, rate-limit 'Slow down, [hidden]'"


async def test_other_exceptions_and_cut_streams_are_told_too() -> None:
    lines: list[str] = []
    layer = logged(lines.append, clock=VirtualClock(0))

    def broken(request: ModelRequest) -> ModelReply:
        raise ZeroDivisionError(SECRET)

    with pytest.raises(ZeroDivisionError):
        await layer(ScriptedModel([broken])).generate(REQUEST)
    with pytest.raises(ZeroDivisionError):
        await parts_from(layer(ScriptedModel([broken])))
    await parts_from(layer(Told(TextStart("0"))))

    assert lines[1] == lines[3] == "scripted/model failed after 0.00 s, ZeroDivisionError"
    assert lines[5].startswith("test/told failed after 0.00 s, protocol 'the stream ended")


async def test_a_stream_that_was_left_is_told_unless_it_was_whole() -> None:
    lines: list[str] = []
    layer = logged(lines.append, clock=VirtualClock(0))
    for count in (1, 4):
        async with layer(saying("a")).stream(REQUEST) as parts:
            for _ in range(count):
                await anext(parts)

    assert lines[1] == "test/told was left after 0.00 s"
    assert lines[3] == "test/told stop after 0.00 s, 'a'"


async def test_no_secret_and_no_option_is_ever_told() -> None:
    request = evolve(
        REQUEST,
        messages=(UserMessage(f"My key is {SECRET}, password: hunter2."),),
        headers=(("authorization", SECRET),),
        provider_options=JsonText.of({"p": {"k": "hunter3"}}),
        key=f"{SECRET}/0/0",
    )
    text = " ".join(await told_of(saying(f"Use Basic dXNlcjpwYXNz or {SECRET}"), request))

    assert "[hidden]" in text
    assert not any(it in text for it in (SECRET[3:], "hunter", "dXNlcjpwYXNz"))


async def test_a_key_is_hidden_before_the_text_is_cut() -> None:
    request = evolve(REQUEST, messages=(UserMessage(f"abc {SECRET}"),))
    lines = await told_of(saying(""), request, text_length=8)

    assert lines[0].endswith("user 'abc [hid'…")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (UserMessage("a\nb\x1b[31m\u2028\ud800"), r"user 'a\nb\x1b[31m\u2028\ud800'"),
        (UserMessage("x" * 10_000), f"user '{'x' * 80}'…"),
        (SystemMessage("Hi"), "system 'Hi'"),
        (AssistantMessage("Hi"), "assistant 1 part"),
        (ToolMessage((ToolResult("c", "look", TextOutput("hunter2")),)), "tool 1 part"),
    ],
)
async def test_lines_are_short_and_printable(message: Message, expected: str) -> None:
    request = evolve(REQUEST, messages=(message,))

    assert (await told_of(saying(), request))[0] == f"test/told generate: 1 message, {expected}"


async def test_texts_may_stay_untold_and_names_are_made_safe() -> None:
    strange = reply("secret plan", call("a\nb"), usage=Usage(None, 3))
    lines = await told_of(ScriptedModel([strange]), evolve(REQUEST, messages=()), text_length=0)
    asked, answered = lines

    assert asked == "scripted/model generate: 0 messages"
    assert answered == (
        "scripted/model tool-calls after 0.00 s, ?+3 tokens, calls (3 characters), (11 characters)"
    )
    with pytest.raises(UsageError, match="text_length of at least 0"):
        logged(str, text_length=-1)


async def test_a_log_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def failing(line: str) -> None:
        raise ZeroDivisionError

    assert await content(logged(failing)(saying("hi"))) == (Text("hi"),)
    assert "what takes the lines has failed" in caplog.text
