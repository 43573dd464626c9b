"""Law 19: an answer in the history and a live answer lead to the same prompt."""

from attrs import evolve
from hypothesis import assume, given
from hypothesis import strategies as st

from stepfold.loop import Calling, Limits, LoopState, Program, Resting, never, open_requests
from stepfold.loop.commands import CallKey
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecision,
    ToolOutcome,
    ToolReturned,
    ToolSucceeded,
)
from stepfold.testing import Trace, World, carry_on, laws, simulate
from stepfold.testing.strategies import programs, schedules, worlds
from stepfold.values import (
    ApprovalResponse,
    ErrorTextOutput,
    Message,
    OpenApproval,
    OpenCall,
    OpenRequest,
    ToolMessage,
    ToolPart,
    ToolResult,
)


def result_of(request: OpenRequest, outcome: ToolOutcome) -> ToolResult:
    call = request.call
    match outcome:
        case ToolSucceeded(output, value):
            return ToolResult(call.tool_call_id, call.tool_name, output, value=value)
        case _:
            output = ErrorTextOutput(outcome.message)
            return ToolResult(call.tool_call_id, call.tool_name, output, value=outcome.value)


def written_answers(program: Program, world: World, state: LoopState) -> list[Message]:
    """What a client would append to the history for the answers that the world gives."""
    parts: list[ToolPart] = []
    for request in open_requests(state):
        match request, world.reply_to(state, request):
            case OpenApproval(approval_id), ApprovalAnswered(_, _, approved, reason=reason):
                parts.append(ApprovalResponse(approval_id, approved, reason=reason))
                if request.call.provider_executed:
                    continue
                if approved and not program.tools[request.call.tool_name].executes:
                    parts.append(result_of(request, client_outcome(world, state, request)))
            case OpenCall(), ToolReturned(_, outcome):
                parts.append(result_of(request, outcome))
            case _:
                pass
    return [ToolMessage(tuple(parts))]


def some_results(world: World, state: LoopState, count: int) -> list[Message]:
    """What a client would append that has answered so many of its calls."""
    parts: list[ToolPart] = []
    for request in open_requests(state):
        answer = world.reply_to(state, request)
        if len(parts) < count and isinstance(answer, ToolReturned):
            parts.append(result_of(request, answer.outcome))
    return [ToolMessage(tuple(parts))] if parts else []


def client_outcome(world: World, state: LoopState, request: OpenApproval) -> ToolOutcome:
    """What the client will say, once the call is approved."""
    assert isinstance(state.phase, Resting)
    index = next(slot.index for slot in state.phase.slots if slot.call == request.call)
    open_call = OpenCall(state.phase.step, index, 0, request.call)
    returned = world.reply_to(state, open_call)
    assert isinstance(returned, ToolReturned)
    assert returned.key == CallKey(state.phase.step, index, 0)
    return returned.outcome


def unchanged(world: World) -> World:
    """The world in which whoever is asked about a history once more says what he said."""
    decisions: tuple[ApprovalDecision, ...] = ("user-approval", "approved")
    return evolve(world, bindings=(None,), refinements=(None,), decisions=decisions)


def unbounded(drawn: Program) -> Program:
    """The program without what would end a run before the model is asked again."""
    tools = {name: evolve(tool, max_retries=None) for name, tool in drawn.tools.items()}
    return evolve(drawn, tools=tools, limits=Limits(), stop_when=never, tool_choice="auto")


def first_call(trace: Trace) -> LoopState | None:
    """The first state in which a model is asked."""
    return next((state for state in trace.states if isinstance(state.phase, Calling)), None)


@given(st.data(), programs(min_tools=2, limited=0, breaks=0, hooks=0))
def test_answers_live_and_in_the_history_are_the_same(data: st.DataObject, drawn: Program) -> None:
    """Budgets and conditions are left out, since they count from the start of a run.

    Validators and policies, which are asked about a history once more, say what they said.
    """
    program = unbounded(drawn)
    world = data.draw(worlds(program=program, min_calls=1, hostile=10, cut=0, failing=0))
    world = evolve(world, answers=tuple(bool(answer) for answer in world.answers))
    rested = simulate(program, "Hello", evolve(world, answers=(None,)))
    assume(isinstance(rested.end.phase, Resting))
    history = [*rested.end.messages, *written_answers(program, world, rested.end)]

    order = data.draw(schedules(kinds=()))
    live = first_call(carry_on(evolve(rested, world=world), rested.end, order))
    begun = first_call(simulate(program, history, unchanged(world), run="another"))

    # With an output that was given beside the question, the answer completes the run.
    assume(live is not None or program.output.needs_call is None)
    assert live is not None
    assert begun is not None
    laws.same_prompt(program, live, begun)


@given(st.data(), programs(min_tools=2, limited=0, breaks=0, hooks=0, asking=70))
def test_what_a_history_leaves_open_is_open_again(data: st.DataObject, drawn: Program) -> None:
    """Whoever answers in the history may answer in part, as one who answers live may."""
    program = unbounded(drawn)
    world = data.draw(worlds(program=program, min_calls=1, hostile=10, cut=0, failing=0))
    silent = evolve(world, answers=(None,))
    rested = simulate(program, "Hello", silent).end
    assume(isinstance(rested.phase, Resting))
    answered = some_results(evolve(world, answers=(True,)), rested, data.draw(st.integers(0, 2)))
    history = [*rested.messages, *answered]
    begun = simulate(program, history, unchanged(silent), run="another").end

    done = {part.tool_call_id for message in answered for part in results_in(message)}
    left = [one.call for one in open_requests(rested) if one.call.tool_call_id not in done]
    assume(left)
    assert isinstance(begun.phase, Resting)
    assert [request.call for request in open_requests(begun)] == left
    assert begun.messages == tuple(history)


def results_in(message: Message) -> list[ToolResult]:
    assert isinstance(message, ToolMessage)
    return [part for part in message.content if isinstance(part, ToolResult)]
