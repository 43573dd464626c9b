"""Laws of how runs end: by a request to end after a step, and by a tool whose result is the output.

No model is asked after either.
"""

from stepfold.loop import (
    Calling,
    Done,
    LoopState,
    Preparing,
    Program,
    Resting,
    Waiting,
    pending,
    step,
)
from stepfold.loop.commands import CallModel, CheckStop, PrepareStep, Wait
from stepfold.loop.events import CancelRequested, Resumed
from stepfold.testing._simulation import Trace
from stepfold.testing.laws._equal import require, require_equal
from stepfold.testing.laws._steps import Reducer, end_can_be_sent, history_only_grows
from stepfold.values import (
    Cancelled,
    Completed,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonText,
    ToolMessage,
    ToolResult,
    UserMessage,
)


def cancel_after_step_waits(program: Program, state: LoopState, *, reducer: Reducer = step) -> None:
    """Law 15: told to end after its step, a run goes on as it was, or ends where it takes none.

    A request issues no command, takes none back, and counts once.
    """
    if isinstance(state.phase, Done):
        return
    transition = reducer(program, state, CancelRequested("law", state.now))
    after = transition.state
    require_equal(transition.commands, (), "a request to end issued commands")
    if state.cancel_requested is not None:
        require(after is state, "a second request to end changed the run")
        return
    history_only_grows(state, after)
    phase = after.phase
    if isinstance(phase, Done):
        require_equal(phase.end, Cancelled("law"), "the end that was asked for")
        end_can_be_sent(after)
        return
    require_equal(pending(after), pending(state), "a request to end changed what is in flight")
    require_equal(after.phase, state.phase, "a request to end interrupted a step")
    again = reducer(program, after, CancelRequested("again", after.now))
    require(again.state is after, "a second request to end changed the run")


def no_model_is_asked_any_more(trace: Trace) -> None:
    """Law 15: after a request to end no step begins, and nobody is waited for.

    What the step in flight still owes is issued again in a new process, its model call among it.
    """
    for moment in trace.moments:
        if moment.after.cancel_requested is None:
            continue
        phase = moment.after.phase
        idle = isinstance(phase, Preparing | Waiting | Resting)
        require(not idle, f"a run that shall end is in {phase!r:.500}")
        if isinstance(moment.event, Resumed) or moment.transition is None:
            continue
        for command in moment.transition.commands:
            begins = isinstance(command, CallModel | PrepareStep | Wait | CheckStop)
            require(not begins, f"a run that shall end issued {command!r}")


def result_is_the_output(trace: Trace) -> None:
    """Where the output is the result of a tool, a run goes on until there is one, and no further.

    But for a word that somebody has to say. Which results count is read off the history.
    """
    tool = trace.program.output.result_of
    if tool is None:
        return
    for state in trace.states:
        given = _given_by(tool, state)
        phase = state.phase
        if isinstance(phase, Calling | Preparing) and given:
            spoken = any(isinstance(message, UserMessage) for message in state.transcript.late)
            require(spoken, f"a run goes on although {tool} has given {given[0]!r:.500}")
        if isinstance(phase, Done) and isinstance(phase.end, Completed):
            require(given, f"a run is complete, and {tool} has given nothing")
            require_equal(phase.end.output, given[0], "the output, and the result that it is")


def _given_by(tool: str, state: LoopState) -> list[JsonText]:
    """What calls of a tool have given in the last step and since."""
    said = state.transcript
    late = [one for one in said.late if isinstance(one, ToolMessage)]
    results = (
        *(said.steps[-1].tool_results if said.steps else ()),
        *(part for one in late for part in one.content if isinstance(part, ToolResult)),
    )
    return [
        result.json
        for result in results
        if result.tool_name == tool
        and not isinstance(result.output, DeniedOutput | ErrorTextOutput | ErrorJsonOutput)
    ]
