"""A model behind a bad network."""

from collections.abc import Callable

import pytest

import stepfold as sf
from stepfold.testing import (
    ChaosModel,
    Scripted,
    ScriptedModel,
    VirtualClock,
    call,
    laws,
    reply,
    trace_of,
)
from stepfold.values import (
    Finish,
    FinishReason,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    StreamStart,
    ToolCall,
    ToolInputDelta,
    UserMessage,
)

HELLO = "Hello to everybody who is here"


@sf.tool
def look(n: int) -> int:
    """Double a number."""
    return n * 2


def request(key: str = "run/0/0", text: str = "Hi") -> ModelRequest:
    return ModelRequest(messages=(UserMessage(text),), key=key)


async def outcome(model: ChaosModel, asked: ModelRequest) -> ModelReply | ModelErrorReason:
    try:
        return await model.generate(asked)
    except ModelError as error:
        return error.reason


async def parts(model: ChaosModel, asked: ModelRequest) -> list[StreamPart]:
    heard: list[StreamPart] = []
    async with model.stream(asked) as stream:
        async for part in stream:
            heard.append(part)
    return heard


def hello() -> ScriptedModel:
    return ScriptedModel([reply(HELLO)] * 3, chunk_size=4)


async def test_a_rate_limit_says_when_to_come_back() -> None:
    model = ChaosModel(hello(), seed=1, rate_limits=1, timeouts=0, cuts=0, retry_after=2.5)

    assert await outcome(model, request()) == ModelErrorReason(
        "rate-limit", "chaos: too many", status=429, retry_after=2_500_000_000
    )


async def test_it_need_not() -> None:
    model = ChaosModel(hello(), seed=1, rate_limits=1, timeouts=0, cuts=0, retry_after=None)
    got = await outcome(model, request())

    assert isinstance(got, ModelErrorReason)
    assert got.retry_after is None


async def test_a_timeout_is_one() -> None:
    inner = hello()
    model = ChaosModel(inner, seed=1, rate_limits=0, timeouts=1, cuts=0)
    got = await outcome(model, request())

    assert isinstance(got, ModelErrorReason)
    assert got.kind == "timeout"
    assert not inner.requests


async def test_a_cut_stream_has_some_parts_and_no_finish() -> None:
    lengths = set()
    whole = await parts(ChaosModel(hello(), seed=1, max_failures=0), request())
    for seed in range(20):
        model = ChaosModel(hello(), seed=seed, rate_limits=0, timeouts=0, cuts=1)
        heard = await parts(model, request())
        lengths.add(len(heard))

        assert heard == whole[: len(heard)]
    assert lengths == {1, 2, 3, 4}


async def test_even_a_short_stream_is_cut_before_its_finish() -> None:
    short: list[StreamPart] = [StreamStart(), Finish(FinishReason("stop"))]
    for seed in range(20):
        inner = ScriptedModel([short])
        model = ChaosModel(inner, seed=seed, rate_limits=0, timeouts=0, cuts=1)

        assert await parts(model, request()) == short[:1]


async def test_nor_is_a_cut_reply_whole() -> None:
    model = ChaosModel(hello(), seed=1, rate_limits=0, timeouts=0, cuts=1)
    got = await outcome(model, request())

    assert got == ModelErrorReason(
        "protocol", "the stream ended without a finish: the reply may be cut"
    )


async def test_malformed_arguments_are_no_json_in_any_view() -> None:
    script: list[Scripted] = [reply("So", call(look, {"n": 1}, id="c"))] * 2
    inner = ScriptedModel(script, chunk_size=3)
    model = ChaosModel(inner, seed=1, malformed=1, max_failures=0)
    whole = await model.generate(request())
    heard = await parts(model, request("run/1/0"))
    deltas = "".join(part.delta for part in heard if isinstance(part, ToolInputDelta))

    assert whole.content[-1] == ToolCall("c", "look", '{{"n":1}')
    assert whole.content[-1] in heard
    assert deltas == '{{"n":1}'


async def test_what_a_provider_runs_is_left_alone() -> None:
    answer = reply(ToolCall("c", "search", "{}", provider_executed=True))
    model = ChaosModel(ScriptedModel([answer] * 2), seed=1, malformed=1, max_failures=0)

    assert await model.generate(request()) == answer
    assert answer.content[0] in await parts(model, request("run/1/0"))


async def test_slow_streams_wait_on_the_clock() -> None:
    clock = VirtualClock()
    before = clock.now()
    model = ChaosModel(hello(), seed=1, slow=1, pause=0.25, max_failures=0, clock=clock)
    heard = await parts(model, request())

    assert clock.now() - before == len(heard) * 250_000_000


async def test_an_attempt_does_not_fail_for_ever() -> None:
    model = ChaosModel(hello(), seed=1, rate_limits=1, timeouts=0, cuts=0, max_failures=2)
    got = [await outcome(model, request(f"run/0/{number}")) for number in range(3)]

    assert [isinstance(one, ModelReply) for one in got] == [False, False, True]


async def test_nor_do_requests_without_a_key() -> None:
    model = ChaosModel(hello(), seed=1, rate_limits=1, timeouts=0, cuts=0, max_failures=2)
    got = [await outcome(model, request("")) for _ in range(3)]

    assert [isinstance(one, ModelReply) for one in got] == [False, False, True]


async def test_the_model_inside_sees_nothing_of_it() -> None:
    inner = ScriptedModel([reply("a"), reply("b")])
    model = ChaosModel(inner, seed=1, rate_limits=0, timeouts=0, cuts=1, max_failures=2)
    for number in range(2):
        await outcome(model, request(f"run/0/{number}"))

    assert await outcome(model, request("run/0/2")) == reply("a")
    assert [asked.key for asked in inner.requests] == ["run/0/0"] * 3


async def kinds(seed: int, requests: list[ModelRequest]) -> list[str]:
    model = ChaosModel(hello_always(), seed=seed, rate_limits=0.3, timeouts=0.3, cuts=0.3)
    got = {asked.key: await outcome(model, asked) for asked in requests}
    return [type(got[key]).__name__ + getattr(got[key], "kind", "") for key in sorted(got)]


def hello_always() -> ScriptedModel:
    return ScriptedModel([reply(HELLO)] * 100)


async def test_what_happens_does_not_depend_on_who_asks_first() -> None:
    asked = [request(f"run/{number}/0") for number in range(30)]
    forward, backward = await kinds(7, asked), await kinds(7, asked[::-1])

    assert forward == backward
    assert len(set(forward)) == 4
    assert forward != await kinds(8, asked)


async def test_nor_on_the_run_but_on_what_was_said() -> None:
    one = [request(f"run/{number}/0") for number in range(30)]
    other = [request(f"another/{number}/0") for number in range(30)]
    said = [request(f"run/{number}/0", "Ho") for number in range(30)]

    assert await kinds(7, one) == await kinds(7, other)
    assert await kinds(7, one) != await kinds(7, said)


async def test_rates_are_kept() -> None:
    model = ChaosModel(
        ScriptedModel([reply("")] * 2000), seed=3, rate_limits=0.2, timeouts=0.1, cuts=0.0
    )
    got = [await outcome(model, request(f"run/{number}/0")) for number in range(2000)]
    limited = [one for one in got if isinstance(one, ModelErrorReason) and one.status == 429]
    silent = [one for one in got if isinstance(one, ModelErrorReason) and one.kind == "timeout"]

    assert 340 < len(limited) < 460
    assert 150 < len(silent) < 250
    assert len(limited) + len(silent) == sum(isinstance(one, ModelErrorReason) for one in got)


async def test_a_run_gets_through_and_keeps_the_laws() -> None:
    script: list[Scripted] = [reply(call(look, {"n": number})) for number in range(4)]
    script.append(reply("Done."))

    async def run_on(model: sf.LanguageModel) -> tuple[sf.Run[str], sf.MemoryJournal, sf.Program]:
        journal = sf.MemoryJournal()
        agent = sf.Agent(model=model, tools=[look])
        run = await agent.generate("Go.", clock=VirtualClock(), journal=journal, run_id="r", seed=0)
        return run, journal, agent.program

    calm, _, _ = await run_on(ScriptedModel(script))
    chaos = ChaosModel(ScriptedModel(script), seed=5, rate_limits=0.4, timeouts=0.3, cuts=0.3)
    run, journal, program = await run_on(chaos)
    trace = trace_of(program, journal.header, journal.entries)

    laws.every_law_holds(trace)
    laws.same_history(calm.state, run.state)
    assert len(journal.entries) > 20
    assert trace.end == run.state


async def test_a_trace_is_of_the_program_that_wrote_the_journal() -> None:
    journal = sf.MemoryJournal()
    await sf.Agent(model=hello()).generate("Go.", journal=journal)
    other = sf.Agent(model=hello(), tools=[look]).program
    with pytest.raises(sf.UsageError, match="trace_of: expected a journal of this program"):
        trace_of(other, journal.header, journal.entries)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: ChaosModel(hello(), seed=1, rate_limits=1.5), "rate_limits: expected a share"),
        (
            lambda: ChaosModel(hello(), seed=1, slow=-1),
            "slow: expected a share from 0 to 1, got -1",
        ),
        (lambda: ChaosModel(hello(), seed=1, timeouts=0.6, cuts=0.6), "1 together at most"),
        (lambda: ChaosModel(hello(), seed=1, retry_after=-1), "retry_after: expected a figure"),
        (lambda: ChaosModel(hello(), seed=1, max_failures=-1), "max_failures: expected a figure"),
        (lambda: ChaosModel(hello(), seed=1, slow=0.5), "slow: expected a clock to wait on"),
    ],
    ids=["rate", "slow", "sum", "retry_after", "max_failures", "clock"],
)
def test_what_cannot_be_is_refused(made: Callable[[], ChaosModel], told: str) -> None:
    with pytest.raises(sf.UsageError, match=told):
        made()
