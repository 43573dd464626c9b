"""Law 9: what is reserved, what is spent, and that no limit is exceeded."""

from typing import Literal, TypeAlias

from stepfold.loop import (
    Calling,
    LoopState,
    Phase,
    Program,
    Transition,
    Working,
    limits_of,
    prices_of,
)
from stepfold.loop.commands import RunTool
from stepfold.loop.events import ToolReturned
from stepfold.loop.notes import CallOpened
from stepfold.testing._simulation import Moment, Trace
from stepfold.testing.laws._equal import require, require_equal

Place: TypeAlias = tuple[int, int]
"""A call: its step and its index."""


def budgets_hold(program: Program, state: LoopState) -> None:
    """Law 9: no count exceeds its limit, and what is reserved is reserved for what is pending.

    A model call is issued only if all that it may cost, as far as one can know before, fits.
    """
    limits = limits_of(program, state.identity.granted)
    ledger, phase = state.ledger, state.phase
    tokens, cost, calls = _reserved_by(phase)
    require_equal(ledger.reserved, tokens, "reserved tokens, and those of what is pending")
    require_equal(ledger.reserved_cost, cost, "reserved money, and that of what is pending")
    require_equal(ledger.reserved_calls, calls, "reserved tool calls, and those of what is pending")
    if limits.steps is not None:
        begun = len(state.steps) + isinstance(phase, Calling)
        require(begun <= limits.steps, f"{begun} steps, and the limit is {limits.steps}")
    if limits.tool_calls is not None:
        count = ledger.total_issued + ledger.reserved_calls
        require(
            count <= limits.tool_calls,
            f"{count} tool calls, and the limit is {limits.tool_calls}",
        )
    issued = dict(ledger.issued)
    for name, most in limits.calls_of:
        count = issued.get(name, 0)
        require(count <= most, f"{count} calls of {name}, and the limit is {most}")
    if isinstance(phase, Calling):
        _call_is_within(program, state, phase)


def _reserved_by(phase: Phase) -> tuple[int, int, int]:
    """The tokens, the micro-units and the tool calls that a phase has reserved."""
    if isinstance(phase, Calling):
        return phase.reserved, phase.reserved_cost, 0
    if not isinstance(phase, Working):
        return 0, 0, 0
    grants = [slot.grant for slot in phase.slots if slot.grant is not None]
    return (
        sum(grant.tokens or 0 for grant in grants),
        sum(grant.cost or 0 for grant in grants),
        sum(grant.tool_calls or 0 for grant in grants),
    )


def _call_is_within(program: Program, state: LoopState, calling: Calling) -> None:
    granted, ledger = state.identity.granted, state.ledger
    limits, allowed = limits_of(program, granted), calling.max_output_tokens
    if limits.tokens is not None:
        require(allowed is not None and allowed > 0, "a call under a token limit has no bound")
        total = ledger.spent + ledger.estimate + (allowed or 0)
        require(
            total <= limits.tokens,
            f"a call may bring the run to {total} tokens, and the limit is {limits.tokens}",
        )
    if limits.cost is not None:
        price = prices_of(program, granted)[calling.model]
        bounded = allowed is not None and allowed > 0
        require(bounded or not price.dearest_output, "a call under a cost limit has no bound")
        total = ledger.spent_cost + price.cost_at_most(ledger.estimate, allowed or 0)
        require(
            total <= limits.cost,
            f"a call may bring the run to a cost of {total}, and the limit is {limits.cost}",
        )


def grants_keep_the_limits(program: Program, transition: Transition) -> None:
    """Law 9: what is granted to tools when they are issued is not spent and not reserved before."""
    limits = limits_of(program, transition.state.identity.granted)
    ledger = transition.state.ledger
    grants = [
        command.grant
        for command in transition.commands
        if isinstance(command, RunTool) and command.grant is not None
    ]
    for what, most, granted, taken in (
        ("tokens", limits.tokens, [g.tokens for g in grants], ledger.spent + ledger.reserved),
        ("cost", limits.cost, [g.cost for g in grants], ledger.spent_cost + ledger.reserved_cost),
    ):
        if most is None:
            continue
        require(None not in granted, f"a grant without a limit of the {what}, of {most}")
        require(taken <= most or not any(granted), f"{what}: {granted} granted, {taken} of {most}")


def tool_calls_keep_their_limits(trace: Trace) -> None:
    """Law 9: so many calls were ever issued as the limits allow, counted from outside."""
    limits = limits_of(trace.program, trace.end.identity.granted)
    issued: dict[Place, str] = {}
    for transition in trace.transitions:
        for command in transition.commands:
            if isinstance(command, RunTool):
                issued[command.key.step, command.key.index] = command.tool_name
        for note in transition.notes:
            if isinstance(note, CallOpened):
                issued[note.key.step, note.key.index] = note.request.call.tool_name
    if limits.tool_calls is not None:
        count = len(issued)
        require(count <= limits.tool_calls, f"{count} calls, and the limit is {limits.tool_calls}")
    for name, most in limits.calls_of:
        count = sum(called == name for called in issued.values())
        require(count <= most, f"{count} calls of {name}, and the limit is {most}")


def tokens_keep_their_limit(trace: Trace) -> None:
    """Law 9: tokens overshoot by at most one reply's excess over what it was allowed.

    What runs of tools took over their grants, in the same way, comes on top.
    """
    most = limits_of(trace.program, trace.end.identity.granted).tokens
    if most is None:
        return
    allowance = overspent = 0
    for moment in trace.moments:
        before, after = moment.before, moment.after
        if isinstance(before.phase, Calling) and moment.changed:
            allowed = before.ledger.estimate + (before.phase.max_output_tokens or 0)
            cost = after.ledger.spent - before.ledger.spent
            allowance = max(allowance, cost - allowed)
        overspent += max(0, _overspent(moment, "tokens"))
        over = after.ledger.spent - most - overspent
        require(over <= allowance, f"{over} tokens over the limit, one reply explains {allowance}")


def _overspent(moment: Moment, what: Literal["tokens", "cost"]) -> int:
    """What the runs of a tool that has returned took over its grant."""
    event, phase = moment.event, moment.before.phase
    if not isinstance(event, ToolReturned) or not moment.changed or event.spending is None:
        return 0
    slots = phase.slots if isinstance(phase, Working) else ()
    granted = next((slot.grant for slot in slots if slot.index == event.key.index), None)
    spending = event.spending
    if what == "tokens":
        return spending.tokens - ((granted and granted.tokens) or 0)
    return spending.spent_cost - ((granted and granted.cost) or 0)


def cost_keeps_its_limit(trace: Trace) -> None:
    """Law 9: money overshoots by at most one reply's excess over what it was allowed.

    What runs of tools took over their grants, in the same way, comes on top.
    """
    program, granted = trace.program, trace.end.identity.granted
    most = limits_of(program, granted).cost
    if most is None:
        return
    allowance = overspent = 0
    for moment in trace.moments:
        before, after = moment.before, moment.after
        phase = before.phase
        if isinstance(phase, Calling) and moment.changed:
            price = prices_of(program, granted)[phase.model]
            allowed = price.cost_at_most(before.ledger.estimate, phase.max_output_tokens or 0)
            cost = after.ledger.spent_cost - before.ledger.spent_cost
            allowance = max(allowance, cost - allowed)
        overspent += max(0, _overspent(moment, "cost"))
        over = after.ledger.spent_cost - most - overspent
        require(over <= allowance, f"{over} over the limit, one reply explains {allowance}")


def cost_is_that_of_the_replies(program: Program, state: LoopState) -> None:
    """What a step cost is what its model's price says, and a run costs at least its steps.

    What is unknown of one reply is unknown of the run; without prices, all is. Runs of
    tools add to it.
    """
    known, prices = 0, prices_of(program, state.identity.granted)
    for step in state.steps:
        price = prices.get(step.model)
        cost = None if price is None else price.cost_of(step.usage)
        require_equal(step.cost, cost, f"what step {step.step} cost, and what its tokens do")
        if step.cost is None:
            require(state.cost is None, "a run knows its cost, and not that of all its steps")
        known += step.cost or 0
    require(state.cost is None or state.cost >= known, f"a run cost {state.cost}, steps {known}")
    require(bool(prices) or state.cost is None, "a run without prices knows its cost")
