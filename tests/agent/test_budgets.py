"""Budgets of an agent: what is spent is told, and a limit leaves a whole run."""

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply


@sf.tool
def look(city: str) -> str:
    """Look out of the window."""
    return f"{city} is warm"


PRICES = {"scripted:model": sf.Price(input=1_000_000, output=2_000_000)}


def looking(*, usage: tuple[int, int] = (10, 5)) -> sf.ModelReply:
    return reply(call(look, {"city": "Oslo"}), usage=usage)


async def test_a_run_tells_what_it_cost() -> None:
    """In micro-units, by the prices of the agent, whichever way its model is named."""
    model = ScriptedModel([looking(), reply("Warm.", usage=(20, 1))])
    run = await sf.Agent(model=model, tools=[look], prices=PRICES).generate("Go.")

    assert [step.cost for step in run.steps] == [20, 22]
    assert run.cost == 42


async def test_without_prices_the_cost_is_not_known() -> None:
    """It is not 0."""
    run = await sf.Agent(model=ScriptedModel([reply("Warm.", usage=(1, 1))])).generate("Go.")

    assert run.cost is None
