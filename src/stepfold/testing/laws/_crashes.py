"""Laws of crashes: what a new process is asked to run, and how the run ends then."""

from collections.abc import Sequence

from stepfold.loop import LoopState, Program, Transition, Working
from stepfold.loop.commands import CallKey, RunTool
from stepfold.testing._simulation import Trace
from stepfold.testing.laws._equal import require_equal
from stepfold.testing.laws._same_runs import same_run
from stepfold.values import Message, TextOutput, ToolMessage, ToolPart, ToolResult


def interrupted_calls(trace: Trace, state: LoopState) -> frozenset[str]:
    """The ids of the calls that a crash in this state would close as interrupted."""
    phase = state.phase
    return frozenset(
        slot.call.tool_call_id
        for slot in getattr(phase, "slots", ())
        if slot.status == "running"
        and slot.started
        and not trace.program.tools[slot.call.tool_name].idempotent
    )


def nothing_runs_twice(program: Program, before: LoopState, resumed: Transition) -> None:
    """Law 14: what a new process is asked to run.

    A call that never started runs; an idempotent one that had started runs as another attempt;
    any other one that had started does not run again. Where that leaves nothing at work, the
    calls that people approved meanwhile may run.
    """
    phase = before.phase
    if not isinstance(phase, Working):
        return
    issued = {command.key for command in resumed.commands if isinstance(command, RunTool)}
    expected: set[CallKey] = set()
    approved: set[CallKey] = set()
    for slot in phase.slots:
        spec = program.tools.get(slot.call.tool_name)
        if slot.status == "asked" and slot.approval is not None and slot.approval.approved:
            approved.add(CallKey(phase.step, slot.index, slot.attempt))
        elif slot.status == "running" and spec is not None:
            if not slot.started:
                expected.add(CallKey(phase.step, slot.index, slot.attempt))
            elif spec.idempotent:
                expected.add(CallKey(phase.step, slot.index, slot.attempt + 1))
    if not expected:
        issued -= approved
    require_equal(issued, expected, "the calls that run after a crash, and those that may")


def resumed_run_is_the_same(
    undisturbed: LoopState, resumed: LoopState, interrupted: frozenset[str]
) -> None:
    """Law 14: a run taken up after a crash ends as the undisturbed one.

    Only calls that had started and must not run twice differ: they are closed as interrupted.
    (What looks at their results may so decide otherwise: a stop condition, `max_retries`, an
    output that a tool gives.)
    """
    law = "a resumed run ended otherwise than the undisturbed one"
    require_equal(
        _without_results(resumed.messages, interrupted),
        _without_results(undisturbed.messages, interrupted),
        law,
    )
    if interrupted:  # what they were granted counts as spent
        require_equal(resumed.ledger.called, undisturbed.ledger.called, law)
        require_equal(resumed.ledger.issued, undisturbed.ledger.issued, law)
    else:
        require_equal(resumed.ledger, undisturbed.ledger, law)
    require_equal(type(resumed.phase), type(undisturbed.phase), law)
    if not interrupted:
        same_run(resumed, undisturbed)


def _without_results(messages: Sequence[Message], ids: frozenset[str]) -> list[Message]:
    def cleared(part: ToolPart) -> ToolPart:
        if isinstance(part, ToolResult) and part.tool_call_id in ids:
            return ToolResult(part.tool_call_id, part.tool_name, NOTHING)
        return part

    return [
        ToolMessage(tuple(map(cleared, message.content)))
        if isinstance(message, ToolMessage)
        else message
        for message in messages
    ]


NOTHING = TextOutput("")
