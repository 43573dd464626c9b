"""Everything that can become of a run is seen, and what breaks a law is found by a shortest way."""

from collections.abc import Callable

import pytest
from attrs import evolve

import stepfold as sf
from stepfold.loop import (
    Done,
    Limits,
    LoopState,
    Program,
    RetryPolicy,
    Transition,
    Working,
    step,
)
from stepfold.loop.commands import CallKey, RunTool
from stepfold.loop.events import (
    ApprovalAnswered,
    Cancelled,
    Event,
    ModelReplied,
    ToolFailed,
    ToolReturned,
    ToolStarted,
)
from stepfold.testing import ScriptedModel, Trace
from stepfold.testing.exploration import (
    FINAL_REPLY,
    Alphabet,
    alphabet_of,
    explore,
    reply_with,
    sample_arguments,
)
from stepfold.testing.laws import Reducer


@sf.tool(needs_approval=True)
def pay(to: str, cents: int) -> str:
    """Pay somebody."""
    return f"paid {cents} to {to}"


@sf.tool(idempotent=True)
def look(key: int) -> str:
    """Look something up."""
    return f"{key}"


def program(*tools: sf.AnyTool[object, object]) -> Program:
    return sf.Agent(model=ScriptedModel([]), tools=tools, retry=RetryPolicy(max_retries=0)).program


def calls_of(reply: sf.ModelReply) -> list[sf.ToolCall]:
    return [part for part in reply.content if isinstance(part, sf.ToolCall)]


def test_a_run_without_tools_has_as_many_states_as_can_be_counted() -> None:
    """The call, its reply, and a cancellation: nothing else can happen."""
    explored = explore(program(), alphabet=Alphabet())

    assert (explored.states, explored.transitions) == (3, 2)
    assert explored.endings == (("Cancelled", 1), ("Completed", 1))
    assert explored.longest == 1
    assert explored.is_exhaustive


def test_every_order_of_approvals_tools_and_cancellations_is_lawful() -> None:
    both = program(pay, look)
    explored = explore(both, alphabet=alphabet_of(both, calls=2, steps=1))

    explored.require_lawful()
    assert explored.is_exhaustive
    assert {name for name, _ in explored.endings} == {
        *("Blocked", "Cancelled", "Completed", "Failed")
    }


def test_invalid_and_cut_calls_crashes_and_messages_are_lawful() -> None:
    one = program(look)
    alphabet = alphabet_of(one, calls=1, steps=1, invalid=True, cut=True)
    explored = explore(
        one,
        alphabet=evolve(
            alphabet,
            cancels=False,
            cancels_after_step=True,
            crashes=1,
            steers=1,
            times_out=True,
        ),
    )

    explored.require_lawful()
    assert explored.is_exhaustive
    assert dict(explored.endings)["Stopped"] > 0


def test_calls_that_differ_in_their_place_alone_are_answered_in_one_order() -> None:
    """Two equal calls, of which both end well or badly: the second order says nothing new."""
    one = program(look)
    twice = Alphabet(
        replies=((reply_with(("look", '{"key":1}'), ("look", '{"key":1}')),), (FINAL_REPLY,)),
        cancels=False,
    )
    different = evolve(
        twice,
        replies=((reply_with(("look", '{"key":1}'), ("look", '{"key":2}')),), (FINAL_REPLY,)),
    )

    assert explore(one, alphabet=twice).states < explore(one, alphabet=different).states


def test_two_explorations_are_equal() -> None:
    both = program(pay, look)
    alphabet = alphabet_of(both, calls=1, steps=1)

    assert explore(both, alphabet=alphabet) == explore(both, alphabet=alphabet)


def test_a_bound_that_was_hit_is_told() -> None:
    both = program(pay, look)
    alphabet = alphabet_of(both)

    few = explore(both, alphabet=alphabet, max_states=20)
    late = explore(both, alphabet=alphabet, max_seconds=0)

    assert (few.bound, late.bound) == ("max_states=20", "max_seconds=0")
    assert not few.is_exhaustive
    assert not late.is_exhaustive
    assert str(few).startswith("not exhaustive (max_states=20): ")


def test_a_run_that_waits_for_nobody_is_found() -> None:
    """A world in which people do not answer leaves a run at rest, and that is no violation."""
    explored = explore(
        program(pay),
        alphabet=Alphabet(
            replies=((reply_with(("pay", '{"to":"a","cents":1}')),), (FINAL_REPLY,)),
            answers=(),
            cancels=False,
        ),
    )

    assert explored.endings == (("Blocked", 1),)
    assert explored.is_exhaustive


def test_a_law_of_ones_own_is_broken_by_a_shortest_way() -> None:
    def never_pays(trace: Trace) -> None:
        assert not any(isinstance(moment.event, ToolStarted) for moment in trace.moments), "paid"

    one = program(pay)
    explored = explore(one, alphabet=alphabet_of(one, steps=1), laws=[never_pays])

    assert explored.violation is not None
    path = [type(event) for event in explored.violation.path]
    assert path == [ModelReplied, ApprovalAnswered, ToolStarted]
    with pytest.raises(
        AssertionError, match=r"(?s)paid.*\nafter 3 events, and no fewer lead there:\n  1"
    ):
        explored.require_lawful()


def test_a_limit_ends_what_would_go_on_for_ever() -> None:
    one = evolve(program(look), limits=Limits(steps=2))
    endless = Alphabet(replies=((reply_with(("look", '{"key":1}')),),), cancels=False)

    explored = explore(one, alphabet=endless)

    assert explored.is_exhaustive
    assert {name for name, _ in explored.endings} == {"Stopped"}


# --- planted faults ---------------------------------------------------------------------------


def _unapproved(program: Program, state: LoopState, event: Event) -> Transition:
    """Runs a call when a person says no."""
    if isinstance(event, ApprovalAnswered) and not event.approved:
        event = evolve(event, approved=True)
    return step(program, state, event)


def _forgetful(program: Program, state: LoopState, event: Event) -> Transition:
    """Loses the messages of a cancelled run."""
    transition = step(program, state, event)
    if isinstance(event, Cancelled):
        state = transition.state
        return evolve(
            transition, state=evolve(state, transcript=evolve(state.transcript, messages=()))
        )
    return transition


def _impatient(program: Program, state: LoopState, event: Event) -> Transition:
    """Starts a tool again as soon as it has started."""
    transition = step(program, state, event)
    if isinstance(event, ToolStarted) and transition.state is not state:
        return evolve(transition, commands=(RunTool(event.key, "pay"),))
    return transition


def _deaf(program: Program, state: LoopState, event: Event) -> Transition:
    """Takes no result of the second call."""
    match event:
        case ToolReturned(CallKey(index=1)):
            return Transition(state)
        case _:
            return step(program, state, event)


def _brittle(program: Program, state: LoopState, event: Event) -> Transition:
    """Fails where a tool fails."""
    if isinstance(event, ToolReturned) and isinstance(event.outcome, ToolFailed):
        msg = "no such key"
        raise KeyError(msg)
    return step(program, state, event)


def _endless(program: Program, state: LoopState, event: Event) -> Transition:
    """Leaves a run at work that nobody works on, after a tool has returned."""
    transition = step(program, state, event)
    phase = state.phase
    if isinstance(event, ToolReturned) and isinstance(phase, Working):
        return Transition(evolve(transition.state, phase=evolve(phase, running=0)))
    return transition


@pytest.mark.parametrize("faulty", [_unapproved, _forgetful, _impatient, _deaf, _brittle, _endless])
def test_a_faulty_reducer_is_found(faulty: Reducer) -> None:
    both = program(pay, look)
    explored = explore(both, alphabet=alphabet_of(both, calls=2, steps=1), reducer=faulty)

    assert explored.violation is not None
    assert not explored.is_exhaustive


# --- alphabets --------------------------------------------------------------------------------


def test_an_alphabet_holds_every_mix_of_the_tools() -> None:
    alphabet = alphabet_of(program(pay, look), calls=2, steps=1)

    mixes = [tuple(call.tool_name for call in calls_of(reply)) for reply in alphabet.replies[0]]
    assert mixes == [
        (),
        ("pay",),
        ("look",),
        ("pay", "pay"),
        ("pay", "look"),
        ("look", "look"),
    ]
    assert alphabet.replies[1] == (FINAL_REPLY,)


def test_arguments_may_be_given() -> None:
    alphabet = alphabet_of(program(look), calls=1, steps=1, arguments={"look": [{"key": 7}]})

    assert [call.input for reply in alphabet.replies[0] for call in calls_of(reply)] == [
        '{"key":7}'
    ]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: alphabet_of(program(), calls=0), "expected calls of at least 1, got 0"),
        (lambda: alphabet_of(program(), steps=0), "expected steps of at least 1, got 0"),
        (
            lambda: alphabet_of(program(look), arguments={"find": []}),
            r"expected names of tools \(look\), got 'find'",
        ),
        (
            lambda: alphabet_of(program(look), arguments={"look": [{"key": "x"}]}),
            "arguments of look: ",
        ),
        (lambda: Alphabet(replies=()), "expected at least one reply for each step"),
        (lambda: Alphabet(replies=((),)), "Alphabet.replies: expected at least one reply"),
    ],
)
def test_a_mistake_is_told(wrong: Callable[[], object], told: str) -> None:
    with pytest.raises(sf.UsageError, match=told):
        wrong()


def test_arguments_that_cannot_be_guessed_are_asked_for() -> None:
    schema = {
        "type": "object",
        "properties": {"code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{3}$"}},
        "required": ["code"],
    }
    coded = sf.dynamic_tool(name="coded", input_schema=schema, execute=lambda _, __: "done")

    with pytest.raises(sf.UsageError, match=r"found no arguments that the tool coded accepts"):
        sample_arguments(program(coded).tools["coded"])


# --- the graph --------------------------------------------------------------------------------


def test_the_graph_is_drawn() -> None:
    drawn = explore(program(), alphabet=Alphabet()).mermaid()

    assert drawn.splitlines() == [
        "stateDiagram-v2",
        "    s0: step 0, Calling",
        "    s1: Cancelled",
        "    s2: Completed",
        "    s0 --> s1: Cancelled 1",
        "    s0 --> s2: ModelReplied 1",
    ]


def test_an_end_is_absorbing_in_the_graph() -> None:
    one = program(look)
    explored = explore(one, alphabet=alphabet_of(one, calls=1, steps=1))
    ends = {name for name, _ in explored.endings} - {"Blocked"}

    assert not [edge for edge, _ in explored.edges if edge[0] in ends]
    assert Done.__name__ not in explored.mermaid()
