"""Scripts: what is recorded of a run is that run, for every script, order, chunking and driver."""

import json
import tempfile
from collections import Counter
from pathlib import Path

import anyio
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.agent import Agent, Run, RunFailed
from stepfold.codec import decode, encode
from stepfold.loop import LoopState, RetryPolicy, parts_of
from stepfold.shell import tool
from stepfold.testing import (
    Exchange,
    PlainAnswer,
    Scripted,
    ScriptedModel,
    ScriptRecorder,
    VirtualClock,
    call,
    fingerprint_of,
    laws,
    read_script,
    reply,
    standard_form,
    write_script,
)
from stepfold.testing.strategies.values import (
    model_error_reasons,
    names,
    replies,
    requests,
    stream_parts,
)
from stepfold.values import (
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamError,
    StreamPart,
    Success,
    ToolDefinition,
)

RUN_IDS = st.sampled_from(["run", "another", "a/b", "0"])


@given(requests())
def test_a_standard_form_is_its_own(request: ModelRequest) -> None:
    once = standard_form(request)

    assert standard_form(once) == once
    assert fingerprint_of(once) == fingerprint_of(request)
    assert decode(encode(once), ModelRequest) == Success(once)


@given(requests(), names(), st.lists(st.tuples(names(), names()), max_size=2))
def test_keys_and_headers_are_of_no_account(
    request: ModelRequest, key: str, headers: list[tuple[str, str]]
) -> None:
    other = evolve(request, key=key, headers=tuple(headers))

    assert fingerprint_of(other) == fingerprint_of(request)


@given(requests(), requests())
def test_fingerprints_are_equal_where_standard_forms_are(
    one: ModelRequest, other: ModelRequest
) -> None:
    same = standard_form(one) == standard_form(other)

    assert (fingerprint_of(one) == fingerprint_of(other)) is same


@given(requests(), st.recursive(st.integers(), lambda inner: st.dictionaries(names(), inner)))
def test_a_document_is_known_in_any_order_of_its_keys(
    request: ModelRequest, value: dict[str, object] | int
) -> None:
    def asked(text: str) -> ModelRequest:
        return evolve(request, tools=(ToolDefinition("look", "Look.", JsonText(text)),))

    turned = json.dumps(reversed_keys(value), indent=1)

    assert fingerprint_of(asked(json.dumps(value))) == fingerprint_of(asked(turned))


def reversed_keys(value: object) -> object:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return value


def exchanges() -> st.SearchStrategy[Exchange]:
    """Draw whatever may be asked and answered."""
    answers = replies() | model_error_reasons() | st.lists(stream_parts(), max_size=4)
    return st.builds(Exchange, requests(), answers)


@given(st.lists(exchanges(), max_size=4), st.lists(st.integers(0, 3), max_size=4))
def test_a_file_gives_back_the_script(script: list[Exchange], again: list[int]) -> None:
    # Conversations that go on, so that requests follow others.
    for place in (place for place in again if place < len(script)):
        request = script[place].request
        longer = evolve(request, messages=(*request.messages, *request.messages[:1]))
        script.append(Exchange(longer, script[place].answer))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.json")
        write_script(script, path)

        assert read_script(path) == Success(tuple(script))


@given(st.lists(exchanges(), min_size=1, max_size=5), st.permutations(range(5)))
def test_an_exchange_is_found_in_whatever_order_it_is_asked_for(
    script: list[Exchange], order: list[int]
) -> None:
    model = ScriptedModel(script)

    async def main() -> None:
        taken: Counter[str] = Counter()
        for exchange in (script[place] for place in order if place < len(script)):
            same = [it.answer for it in script if it.fingerprint == exchange.fingerprint]
            expected = same[taken[exchange.fingerprint]]
            taken[exchange.fingerprint] += 1

            assert await answer_of(model, exchange.request) == streamed_form(expected)

    anyio.run(main)
    model.assert_exhausted()


async def answer_of(model: ScriptedModel, request: ModelRequest) -> object:
    """What a model answers when it is asked for a stream."""
    try:
        async with model.stream(request) as stream:
            return tuple([part async for part in stream])
    except ModelError as error:
        return error.reason


def streamed_form(answer: PlainAnswer) -> object:
    return parts_of(answer) if isinstance(answer, ModelReply) else answer


@given(requests(), replies() | model_error_reasons())
async def test_a_recorder_changes_nothing(
    request: ModelRequest, answer: ModelReply | ModelErrorReason
) -> None:
    asked = evolve(request, key="run/0/0")

    await laws.middleware_is_transparent(ScriptRecorder, ScriptedModel([answer]), asked)


# --- whole runs -------------------------------------------------------------------------------


@tool
async def look(n: int) -> int:
    """Double a number."""
    return n * 2


BUSY = ModelErrorReason("overloaded", "busy", retry_after=10**9)


@st.composite
def scripts(draw: st.DrawFn) -> list[Scripted]:
    """Draw steps with calls, failures and streams that break off; then a final answer."""
    script: list[Scripted] = []
    for _ in range(draw(st.integers(0, 3))):
        numbers = draw(st.lists(st.integers(0, 2), max_size=2))
        calls = [call(look, {"n": number}) for number in numbers] or [call(look, "{")]
        whole = reply("Let me see.", *calls)
        parts = parts_of(whole)
        torn: list[StreamPart] = [*parts[: draw(st.integers(0, len(parts) - 1))], StreamError(BUSY)]
        failures: list[list[Scripted]] = [[], [BUSY], [torn]]
        script += [*draw(st.sampled_from(failures)), whole]
    return [*script, reply("That is all.")]


def agent_of(model: ScriptedModel | ScriptRecorder) -> Agent:
    return Agent(model=model, tools=[look], retry=RetryPolicy(max_retries=1))


async def run_of(
    model: ScriptedModel | ScriptRecorder, run_id: str, *, streams: bool
) -> Run[object]:
    agent = agent_of(model)
    clock = VirtualClock()
    try:
        if not streams:
            return await agent.generate("Go.", clock=clock, run_id=run_id, seed=0)
        async with agent.stream("Go.", clock=clock, run_id=run_id, seed=0) as stream:
            return await stream.run()
    except RunFailed as failed:
        return failed.run


@given(
    scripts(),
    st.sampled_from([None, 1, 3]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["asyncio", "trio"]),
    RUN_IDS,
)
def test_a_recorded_run_is_run_again_from_its_script(
    script: list[Scripted],
    chunk_size: int | None,
    records_stream: bool,
    replays_stream: bool,
    backend: str,
    run_id: str,
) -> None:
    async def main() -> tuple[LoopState, LoopState, Run[object]]:
        recorder = ScriptRecorder(ScriptedModel(script, chunk_size=chunk_size))
        first = await run_of(recorder, "run", streams=records_stream)
        model = ScriptedModel(recorder.script)
        again = await run_of(model, "run", streams=replays_stream)
        model.assert_exhausted()
        return first.state, again.state, await run_of(model, run_id, streams=True)

    first, again, elsewhere = anyio.run(main, backend=backend)

    laws.same_run(first, again)
    assert [step.content for step in elsewhere.steps if not step.tool_calls] == [
        step.content for step in again.steps if not step.tool_calls
    ]
