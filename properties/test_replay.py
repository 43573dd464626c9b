"""Law 2: a journal leads to the state that was reached, or says where it does not."""

from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from stepfold.loop import JournalEntry, Limits, Program, is_step_count, never, replay
from stepfold.testing import Trace, laws, simulate
from stepfold.testing.strategies import programs, traces, worlds
from stepfold.values import Failure, Success


@given(traces(histories_percent=50))
def test_every_prefix_of_a_journal_leads_to_its_state(trace: Trace) -> None:
    entries = trace.entries
    for length, state in enumerate(trace.states):
        laws.run_is_replayable(trace.program, trace.header, entries[:length], state)


@given(traces(), st.data())
def test_an_event_without_effect_diverges(trace: Trace, data: st.DataObject) -> None:
    entries = list(trace.entries)
    assume(entries)
    place = data.draw(st.integers(0, len(entries) - 1))
    twice = [*entries[: place + 1], *entries[place:]]
    outcome = replay(trace.program, trace.header, twice)

    if type(entries[place].event).__name__ in {"TimedOut", "Cancelled"}:
        return
    assert isinstance(outcome, Failure)
    assert outcome.failure().position == place + 1


@given(traces(), st.data())
def test_other_commands_diverge(trace: Trace, data: st.DataObject) -> None:
    entries = list(trace.entries)
    assume(entries)
    place = data.draw(st.integers(0, len(entries) - 1))
    entries[place] = JournalEntry(entries[place].event, (*entries[place].commands, "RunTool/9/9/9"))

    outcome = replay(trace.program, trace.header, entries)

    assert isinstance(outcome, Failure)
    assert outcome.failure().position == place


@given(st.data(), programs(min_tools=2, limited=0, breaks=0, hooks=0))
def test_a_changed_stop_condition_diverges(data: st.DataObject, drawn: Program) -> None:
    program = evolve(drawn, limits=Limits(), stop_when=never, tool_choice="auto", version="1")
    world = data.draw(worlds(program=program, min_calls=1, min_turns=3, cut=0, failing=0))
    trace = simulate(program, "Hello", evolve(world, answers=(True,)))
    assume(len(trace.end.steps) > 1)
    stops_early = evolve(program, stop_when=is_step_count(1))

    refused = replay(stops_early, trace.header, trace.entries)
    allowed = replay(stops_early, trace.header, trace.entries, allow_other_fingerprint=True)

    assert isinstance(refused, Failure)
    assert refused.failure().position == -1
    assert isinstance(allowed, Failure)
    assert allowed.failure().position >= 0


@given(st.data(), programs(min_tools=2, limited=0, breaks=0, hooks=0))
def test_a_lost_tool_diverges_or_was_never_called(data: st.DataObject, drawn: Program) -> None:
    program = evolve(
        drawn,
        limits=Limits(),
        stop_when=never,
        tool_choice="auto",
        active_tools=None,
        tool_order=None,
    )
    world = data.draw(worlds(program=program, min_calls=1, hostile=0, cut=0, failing=0))
    trace = simulate(program, "Hello", world)
    kept = program.output.result_of  # without it there is no program
    lost = next(name for name in program.tools if name != kept)
    tools = {name: tool for name, tool in program.tools.items() if name != lost}
    changed = evolve(program, tools=tools)

    outcome = replay(changed, trace.header, trace.entries, allow_other_fingerprint=True)

    ran = any(
        type(command).__name__ == "RunTool" and getattr(command, "tool_name", None) == lost
        for transition in trace.transitions
        for command in transition.commands
    )
    assert not ran or not isinstance(outcome, Success)
