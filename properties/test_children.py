"""Runs of tool calls: whatever they were granted, and when, their journal alone replays them."""

from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from hypothesis import example, given
from hypothesis import strategies as st

from stepfold.agent import Agent, Run, approve
from stepfold.loop import Limits
from stepfold.shell import MemoryJournal, ToolContext, tool
from stepfold.testing import ScriptedModel, call, laws, reply, trace_of
from stepfold.values import Price

LARGEST = 41
"""The tokens of the largest reply."""

PRICES = {"scripted:model": Price(input=1_000_000, output=2_000_000)}


def grants() -> st.SearchStrategy[Limits]:
    """Draw limits of one kind, or of several, that are met in a run of six small steps."""
    figure = st.integers(0, 120)
    kinds = {
        "steps": st.integers(1, 4),
        "tokens": figure,
        "cost": figure,
        "tool_calls": st.integers(0, 9),
    }
    each = [st.builds(Limits, **{name: drawn}) for name, drawn in kinds.items()]
    some = {name: st.none() | drawn for name, drawn in kinds.items()}
    return st.one_of(
        *each, st.builds(Limits, **some, wrap_up_tokens=st.none() | st.integers(0, 20))
    )


@given(
    first=grants(),
    later=st.lists(st.none() | grants(), max_size=3),
    own=grants() | st.just(Limits()),
    usages=st.lists(st.integers(0, LARGEST - 1), min_size=6, max_size=6),
    priced=st.booleans(),
)
@example(first=Limits(), later=[Limits(tool_calls=0)], own=Limits(), usages=[1] * 6, priced=False)
def test_a_child_that_others_answer_is_replayed_from_its_journal_with_the_plain_program(
    first: Limits,
    later: list[Limits | None],
    own: Limits,
    usages: list[int],
    *,
    priced: bool,
) -> None:
    """Each call that answers grants less, or more, than the one before; where none does, what was
    granted last still holds. Nothing but the journal tells any of it.
    """

    @tool(needs_approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    @tool
    def look() -> str:
        """Look."""
        return "nothing"

    calls = ((pay, look), (look,), (look, look), (pay,), (look,))
    script = [
        *(
            reply(*map(call, of_step), usage=(usage, 1))
            for of_step, usage in zip(calls, usages, strict=False)
        ),
        reply("Done.", usage=(usages[-1], 1)),
    ]
    child = Agent(
        model=ScriptedModel(script, by_step=True),
        tools=[pay, look],
        limits=own,
        prices=PRICES if priced or own.cost is not None else {},
    )
    journal = MemoryJournal()

    async def answered(run: Run[str], context: ToolContext[object] | None) -> Run[str]:
        answers = [approve(request) for request in run.open_approvals]
        return await child.answer(run, answers, parent=context, journal=journal)

    async def main() -> Run[str]:
        run = await within_a_call(
            first, None, lambda context: child.generate("Go.", parent=context, journal=journal)
        )
        for most in later:
            if most is None:
                run = await answered(run, None)
            else:
                run = await within_a_call(most, run, partial(answered, run))
        return run

    state = anyio.run(main).state
    trace = trace_of(child.program, journal.header, journal.entries)
    assert trace.end == state
    laws.every_law_holds(trace)
    laws.run_is_replayable(child.program, journal.header, journal.entries, state)


async def within_a_call(
    grant: Limits,
    before: Run[str] | None,
    work: Callable[[ToolContext[object]], Awaitable[Run[str]]],
) -> Run[str]:
    """What a call with this grant makes of a run; it makes no more steps and calls than granted."""
    done: list[Run[str]] = []

    @tool(grant=grant)
    async def delegate(context: ToolContext[object]) -> str:
        """Let somebody else work."""
        run = await work(context)
        steps, calls, tokens = (
            now - then for now, then in zip(figures_of(run), figures_of(before), strict=True)
        )
        granted = context.grant
        assert granted is not None
        assert granted.steps is None or steps <= granted.steps
        assert calls <= (granted.tool_calls or 0)
        assert tokens <= (granted.tokens or 0) + LARGEST
        done.append(run)
        return "done"

    model = ScriptedModel([reply(call(delegate), usage=(1, 1)), reply("Done.")])
    limits = Limits(tokens=200, cost=400, tool_calls=9)
    parent = Agent(model=model, tools=[delegate], prices=PRICES, limits=limits)
    journal = MemoryJournal()
    await parent.generate("Go.", journal=journal)
    laws.every_law_holds(trace_of(parent.program, journal.header, journal.entries))
    return done[0]


def figures_of(run: Run[str] | None) -> tuple[int, int, int]:
    """The steps, the tool calls and the tokens of a run, if it has begun."""
    if run is None:
        return 0, 0, 0
    return len(run.steps), run.state.ledger.total_issued, run.state.ledger.spent
