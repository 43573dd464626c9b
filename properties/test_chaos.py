"""Chaos: runs on a bad network keep every law, and get through where there are retries enough."""

from collections.abc import Callable

import anyio
from hypothesis import given
from hypothesis import strategies as st

from stepfold.agent import Agent, Run, RunFailed
from stepfold.loop import RetryPolicy, is_step_count
from stepfold.loop.events import ModelFailed
from stepfold.ports import LanguageModel
from stepfold.shell import MemoryJournal, tool
from stepfold.testing import (
    ChaosModel,
    Scripted,
    ScriptedModel,
    Trace,
    VirtualClock,
    call,
    laws,
    reply,
    trace_of,
)
from stepfold.testing.strategies.values import replies, requests
from stepfold.values import ModelErrorReason, ModelReply, ModelRequest

BUSY = ModelErrorReason("overloaded", "busy")
BACKENDS = st.sampled_from(["asyncio", "trio"])
SHARES = st.sampled_from([0.0, 0.1, 0.3])


@tool
async def look(n: int) -> int:
    """Double a number."""
    return n * 2


@st.composite
def scripts(draw: st.DrawFn, *, failing: bool = False) -> list[Scripted]:
    """Draw steps with calls, each failing once at most if `failing`; then a final answer."""
    script: list[Scripted] = []
    for _ in range(draw(st.integers(0, 4))):
        if failing and draw(st.booleans()):
            script.append(BUSY)
        numbers = draw(st.lists(st.integers(0, 3), min_size=1, max_size=2))
        script.append(reply("So.", *[call(look, {"n": number}) for number in numbers]))
    return [*script, reply("That is all.")]


@st.composite
def chaos(
    draw: st.DrawFn, *, malformed: bool = False
) -> Callable[[LanguageModel, VirtualClock, int], ChaosModel]:
    """Draw how bad the network is."""
    shares = {name: draw(SHARES) for name in ("rate_limits", "timeouts", "cuts")}
    seed, slow = draw(st.integers()), draw(SHARES)
    broken = draw(SHARES) if malformed else 0.0
    retry_after = draw(st.sampled_from([None, 0.0, 2.0]))

    def around(model: LanguageModel, clock: VirtualClock, max_failures: int) -> ChaosModel:
        return ChaosModel(
            model,
            seed=seed,
            **shares,
            malformed=broken,
            slow=slow,
            retry_after=retry_after,
            max_failures=max_failures,
            clock=clock,
        )

    return around


async def run_of(
    model: LanguageModel, clock: VirtualClock, retries: int, *, streams: bool, run_id: str = "run"
) -> tuple[Run[object], Trace]:
    """A run, and its trace from its journal."""
    journal = MemoryJournal()
    agent = Agent(
        model=model,
        tools=[look],
        retry=RetryPolicy(max_retries=retries),
        stop_when=is_step_count(8),
    )
    try:
        if streams:
            async with agent.stream(
                "Go.", clock=clock, journal=journal, run_id=run_id, seed=0
            ) as stream:
                run: Run[object] = await stream.run()
        else:
            run = await agent.generate("Go.", clock=clock, journal=journal, run_id=run_id, seed=0)
    except RunFailed as failed:
        run = failed.run
    return run, trace_of(agent.program, journal.header, journal.entries)


@given(scripts(failing=True), chaos(malformed=True), st.integers(0, 4), st.booleans(), BACKENDS)
def test_runs_under_chaos_keep_every_law(
    script: list[Scripted],
    around: Callable[[LanguageModel, VirtualClock, int], ChaosModel],
    max_failures: int,
    streams: bool,
    backend: str,
) -> None:
    async def main() -> None:
        clock = VirtualClock()
        endless = [*script, *[reply("That is all.")] * 8]  # broken arguments cost steps
        model = around(ScriptedModel(endless, chunk_size=3), clock, max_failures)
        run, trace = await run_of(model, clock, 2, streams=streams)

        laws.every_law_holds(trace)
        assert trace.end == run.state

    anyio.run(main, backend=backend)


@given(scripts(failing=True), chaos(), st.integers(0, 3), st.booleans(), BACKENDS, st.booleans())
def test_bounded_chaos_leads_to_the_undisturbed_history(
    script: list[Scripted],
    around: Callable[[LanguageModel, VirtualClock, int], ChaosModel],
    max_failures: int,
    streams: bool,
    backend: str,
    by_step: bool,
) -> None:
    async def main() -> None:
        clock = VirtualClock()
        calm, _ = await run_of(ScriptedModel(script, by_step=by_step), clock, 1, streams=streams)
        model = around(ScriptedModel(script, by_step=by_step, chunk_size=3), clock, max_failures)
        run, _ = await run_of(model, clock, max_failures + 1, streams=streams)

        laws.same_history(calm.state, run.state)
        assert run.end == calm.end
        assert [step.content for step in run.steps] == [step.content for step in calm.steps]

    anyio.run(main, backend=backend)


@given(scripts(), chaos(malformed=True), st.integers(0, 4), st.booleans(), BACKENDS)
def test_a_seed_says_all_that_happens(
    script: list[Scripted],
    around: Callable[[LanguageModel, VirtualClock, int], ChaosModel],
    max_failures: int,
    streams: bool,
    backend: str,
) -> None:
    async def main(run_id: str) -> tuple[Run[object], list[str]]:
        clock = VirtualClock()
        endless = [*script, *[reply("That is all.")] * 8]
        model = around(ScriptedModel(endless, chunk_size=3), clock, max_failures)
        run, trace = await run_of(model, clock, 2, streams=streams, run_id=run_id)
        events = [moment.event for moment in trace.moments]
        return run, [str(event.reason) for event in events if isinstance(event, ModelFailed)]

    first, happened = anyio.run(main, "run", backend=backend)
    again, happened_again = anyio.run(main, "run", backend="asyncio")
    _, elsewhere = anyio.run(main, "another", backend=backend)

    laws.same_run(again.state, first.state)
    assert happened == happened_again == elsewhere


@given(requests(), st.lists(replies(), min_size=1, max_size=1), chaos(malformed=True))
async def test_generating_is_the_folded_stream_of_the_same_chaos(
    request: ModelRequest,
    script: list[ModelReply],
    around: Callable[[LanguageModel, VirtualClock, int], ChaosModel],
) -> None:
    clock = VirtualClock()
    key = "run/0/0"
    asked = ModelRequest(messages=request.messages, key=key)
    model = around(ScriptedModel(script), clock, 1)

    await laws.generate_is_the_folded_stream(model, asked)


@given(requests(), st.lists(replies(), min_size=1, max_size=1), st.integers())
async def test_without_rates_there_is_no_chaos(
    request: ModelRequest, script: list[ModelReply], seed: int
) -> None:
    def chaotic(model: LanguageModel) -> LanguageModel:
        return ChaosModel(model, seed=seed, rate_limits=0, timeouts=0, cuts=0)

    await laws.middleware_is_transparent(
        chaotic, ScriptedModel(script), ModelRequest(messages=request.messages, key="run/0/0")
    )
