"""Budgets: what a model call reserves when it is issued, and what it turns out to have taken.

A call reserves what its prompt takes at least (the total of the last reply) and the output that it
is allowed, if the user said how much. It is issued only if the limits leave room for the prompt and
for some output, and it is told to stay within that room. Money follows tokens: the same figures at
the dearest price that the model has for them, in whole micro-units.

Tools that begin runs of their own are granted a part of what is left when they are issued: each at
most what it declares, and at most an equal part for those that are yet to be granted one, in call
order. The next prompt of the run itself and its wrap-up are kept back. A grant is reserved while
the tool runs, and settled by what it says that these runs have spent.

What is unknown never counts as nothing. A reply without figures counts as its prompt and all the
output that it was allowed; an attempt that failed counts as what it had reserved, unless the
provider refused it before doing any work; a grant of which nothing is told counts as spent.

Room is asked for, and grants are made, only while nothing is in flight, so that nothing else is
reserved then: a model is called when no tool runs, and the tools of a step are issued at once.
"""

from collections.abc import Sequence

from stepfold.loop._draft import Draft
from stepfold.loop._granted import limits_of, prices_of
from stepfold.loop._limits import Limits
from stepfold.loop._plan import StepPlan
from stepfold.loop._program import Program
from stepfold.loop._settings import settings_of
from stepfold.loop._state import Calling
from stepfold.loop.commands import Grant
from stepfold.loop.events import Spending
from stepfold.values import NO_USAGE, JsonText, ModelReply, Stop, Usage

LIMIT_COST = "limit-cost"
LIMIT_STEPS = "limit-steps"
LIMIT_TOKENS = "limit-tokens"
LIMIT_TOOL_CALLS = "limit-tool-calls"

AMPLE_ROOM = 4_096
"""So many tokens of output every model gives; whoever wants a tighter budget says how many."""


# --- before a call ----------------------------------------------------------------------------


def limit_met(
    program: Program, out: Draft, step: int, model: str, *, kept_back: bool
) -> Stop | None:
    """The hard limit that leaves no room for a call; with `kept_back`, room for a wrap-up stays."""
    limits = limits_of(program, out.identity.granted)
    wrap_up = limits.wrap_up_tokens if kept_back else None
    if limits.steps is not None:
        allowed = limits.steps if wrap_up is None else limits.steps - 1
        if step >= allowed:
            return at_limit(LIMIT_STEPS, step, limits.steps)
    room = _room_in_tokens(program, out, kept_back=kept_back)
    if room is not None and room <= 0:
        return at_limit(LIMIT_TOKENS, out.spent, limits.tokens)
    room = _room_in_money(program, out, model, kept_back=kept_back)
    if room is not None and room <= 0:
        return at_limit(LIMIT_COST, out.spent_cost, limits.cost)
    return None


def at_limit(name: str, reached: int, limit: int | None) -> Stop:
    """Why a run stops at a limit."""
    return Stop(name, JsonText(f'{{"reached":{reached},"limit":{limit}}}'))


def room_for_output(program: Program, out: Draft, model: str, *, kept_back: bool) -> int | None:
    """How many tokens are left for the output of the next call; `None` is no limit.

    A call whose settings ask for a number of output tokens needs room for all of them.
    """
    tokens = _room_in_tokens(program, out, kept_back=kept_back)
    money = _room_in_money(program, out, model, kept_back=kept_back)
    if tokens is None or money is None:
        return money if tokens is None else tokens
    return min(tokens, money)


def _room_in_tokens(program: Program, out: Draft, *, kept_back: bool) -> int | None:
    limits = limits_of(program, out.identity.granted)
    if limits.tokens is None:
        return None
    wrap_up = (limits.wrap_up_tokens or 0) if kept_back else 0
    return _wanted_of(program, limits.tokens - wrap_up - out.spent - out.estimate)


def _room_in_money(program: Program, out: Draft, model: str, *, kept_back: bool) -> int | None:
    """As many tokens of output as the money that is left buys, after the prompt is paid."""
    limits = limits_of(program, out.identity.granted)
    if limits.cost is None:
        return None
    prices = prices_of(program, out.identity.granted)
    price, of_wrap_up = prices.get(model), prices.get(program.models[0])
    if price is None or of_wrap_up is None:  # a price was lost since the run began
        return 0
    left = limits.cost - out.spent_cost
    if kept_back:
        left -= of_wrap_up.cost_at_most(0, limits.wrap_up_tokens or 0)
    room = price.output_within(left, out.estimate)
    return None if room is None else _wanted_of(program, room)


def _wanted_of(program: Program, room: int) -> int:
    wanted = program.settings.max_output_tokens
    return 0 if wanted is not None and wanted > room else room


def allowed_output(
    program: Program, out: Draft, plan: StepPlan | None, model: str, *, kept_back: bool
) -> int | None:
    """How many tokens the next reply may have: what is wanted of it, as far as there is room.

    Where nothing is wanted, ample room is no figure to ask for: providers refuse a request for more
    than a model can give.
    """
    wanted = settings_of(program, plan).max_output_tokens
    room = room_for_output(program, out, model, kept_back=kept_back)
    if wanted is None:
        return None if room is None or room > AMPLE_ROOM else room
    return wanted if room is None else min(wanted, room)


def reserved_output(program: Program, plan: StepPlan | None, allowed: int | None) -> int:
    """What a call reserves for its output: what it is allowed, if the user said how much."""
    wanted = settings_of(program, plan).max_output_tokens
    return 0 if wanted is None or allowed is None else allowed


def reserved_cost(program: Program, out: Draft, model: str, output: int) -> int:
    """What a call reserves of the money, in micro-units, for so many tokens of output."""
    granted = out.identity.granted
    is_limited = limits_of(program, granted).cost is not None
    price = prices_of(program, granted).get(model) if is_limited else None
    return 0 if price is None else price.cost_at_most(out.estimate, output)


# --- after it ---------------------------------------------------------------------------------


def settle_reply(program: Program, out: Draft, calling: Calling, usage: Usage) -> int | None:
    """Count a whole reply, and give what it cost, if that is known."""
    allowed = calling.max_output_tokens or 0
    total = usage.total_tokens
    spent = out.estimate + allowed if total is None else total
    out.settle(calling.reserved, spent, usage)
    cost = None
    prices = prices_of(program, out.identity.granted)
    if prices:
        price = prices.get(calling.model)
        cost = None if price is None else price.cost_of(usage)
        most = calling.reserved_cost
        if cost is None and price is not None:
            most = price.cost_at_most(out.estimate, allowed)
        out.settle_cost(calling.reserved_cost, most if cost is None else cost, cost)
    if total is not None:
        out.estimate = total
    return cost


def settle_attempt(
    program: Program,
    out: Draft,
    calling: Calling,
    partial: ModelReply | None,
    *,
    was_refused: bool = False,
) -> int | None:
    """Count an attempt that came to no reply, and give what its partial reply cost, if known."""
    usage = NO_USAGE if partial is None else partial.usage
    total = usage.total_tokens
    unknown = 0 if was_refused else calling.reserved
    out.settle(calling.reserved, unknown if total is None else total, usage)
    prices = prices_of(program, out.identity.granted)
    if not prices:
        return None
    price = prices.get(calling.model)
    cost = None if price is None else price.cost_of(usage)
    unknown = 0 if was_refused else calling.reserved_cost
    spent = unknown if cost is None else cost
    gave_nothing = total is None and (partial is None or not partial.content)
    out.settle_cost(calling.reserved_cost, spent, 0 if gave_nothing else cost)
    return cost


# --- grants -----------------------------------------------------------------------------------


def grants_of(program: Program, out: Draft, declared: Sequence[Limits]) -> Sequence[Grant]:
    """Reserve a grant for each of some tools, in call order."""
    limits = limits_of(program, out.identity.granted)
    wrap_up = limits.wrap_up_tokens or 0
    tokens = cost = calls = None
    if limits.tokens is not None:
        tokens = max(0, limits.tokens - wrap_up - out.spent - out.estimate)
    if limits.cost is not None:
        prices = prices_of(program, out.identity.granted)
        price = prices.get(program.models[0])
        kept_back = limits.cost if price is None else price.cost_at_most(out.estimate, wrap_up)
        cost = max(0, limits.cost - kept_back - out.spent_cost)
    if limits.tool_calls is not None:
        calls = max(0, limits.tool_calls - out.total_issued)
    grants: list[Grant] = []
    for place, most in enumerate(declared):
        others = len(declared) - place
        grant = Grant(
            _part_of(tokens, others, most.tokens),
            _part_of(cost, others, most.cost),
            _part_of(calls, others, most.tool_calls),
        )
        tokens = None if tokens is None else tokens - (grant.tokens or 0)
        cost = None if cost is None else cost - (grant.cost or 0)
        calls = None if calls is None else calls - (grant.tool_calls or 0)
        out.reserved += grant.tokens or 0
        out.reserved_cost += grant.cost or 0
        out.reserved_calls += grant.tool_calls or 0
        grants.append(grant)
    return grants


def _part_of(left: int | None, others: int, most: int | None) -> int | None:
    if left is None:
        return most
    part = left // others
    return part if most is None else min(part, most)


def settle_grant(out: Draft, grant: Grant | None, spending: Spending | None) -> None:
    """Release what a tool was granted, and count what it has spent: all of it, if nobody tells."""
    granted = NOTHING_GRANTED if grant is None else grant
    tokens, cost = granted.tokens or 0, granted.cost or 0
    calls = granted.tool_calls or 0
    told = Spending(NO_USAGE, tokens, None, cost, calls) if spending is None else spending
    out.settle(tokens, told.tokens, told.usage)
    out.settle_cost(cost, told.spent_cost, told.cost)
    out.reserved_calls -= calls
    out.total_issued += told.tool_calls


NOTHING_GRANTED = Grant()
