"""What a plan changes of the tools that the model is told of, and what it leaves as it is."""

import pytest

from stepfold.loop import ToolSpec, request_of
from stepfold.loop._program import Program
from stepfold.loop.events import StepPlan
from stepfold.values import ProviderTool
from tests.loop._scenario import ONE, started, tool

TOOLS: dict[str, ToolSpec] = {name: tool(name) for name in ("look", "ask", "pay")}
SEARCH = ProviderTool("acme.search", "search")
BROWSE = ProviderTool("acme.browse", "browse")


@pytest.mark.parametrize(
    ("plan", "own", "providers"),
    [
        (StepPlan(), ["pay", "ask"], ["search", "browse"]),
        (StepPlan(tool_order=("ask", "browse")), ["ask", "pay"], ["browse", "search"]),
        (StepPlan(active_tools=("look", "pay", "browse")), ["pay", "look"], ["browse"]),
        (
            StepPlan(active_tools=("look", "pay", "ask"), tool_order=("look",)),
            ["look", "ask", "pay"],
            [],
        ),
    ],
)
def test_what_a_plan_does_not_say_is_as_in_the_program(
    plan: StepPlan, own: list[str], providers: list[str]
) -> None:
    """Which tools there are, and their order, are two wishes."""
    offering = Program(
        models=(ONE,),
        tools=TOOLS,
        provider_tools={"search": SEARCH, "browse": BROWSE},
        active_tools=("ask", "browse", "pay", "search"),
        tool_order=("pay", "search"),
        prepares=True,
    )
    run = started(offering)
    run.prepare(plan)
    request = request_of(run.program, run.state)

    assert [tool.name for tool in request.tools] == own
    assert [tool.name for tool in request.provider_tools] == providers
