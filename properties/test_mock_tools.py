"""Mocked tools: a run on what was recorded is the run that was recorded."""

import anyio
from hypothesis import given
from hypothesis import strategies as st

from stepfold.agent import Agent, Run
from stepfold.loop import Program
from stepfold.shell import AnyTool, tool
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, laws, mock_tool, reply
from stepfold.values import Failure, Outcome, Success, ToolCall, ToolFault

ARGUMENTS = ['{"n":0}', '{"n":1}', '{ "n": 2 }', "{}", '{"n":"x"}', "{", ""]
NAMES = ["look", "pick", "ask", "roll", "nobody"]
CALLS = st.builds(call, st.sampled_from(NAMES), st.sampled_from(ARGUMENTS))


def tools_of(ran: list[str]) -> tuple[AnyTool[object, object], ...]:
    """Tools of every kind that tell when they run; one gives something else each time."""

    @tool
    async def look(n: int = 0) -> dict[str, int]:
        """Give an object."""
        ran.append("look")
        return {"n": n}

    @tool
    async def pick(n: int) -> Outcome[tuple[int, ...], dict[str, int]]:
        """Give a result or a failure, both typed."""
        ran.append("pick")
        return Failure({"odd": n}) if n % 2 else Success((n, n))

    @tool
    async def ask(n: int) -> str:
        """Give text, or raise."""
        ran.append("ask")
        if n == 2:
            msg = "not two"
            raise ToolFault(msg)
        return f"it is {n}"

    @tool
    async def roll() -> int:
        """Give the number of times that anything ran."""
        ran.append("roll")
        return len(ran)

    return look, pick, ask, roll


@given(
    st.lists(st.lists(CALLS, min_size=1, max_size=3), max_size=3),
    st.sampled_from(["asyncio", "trio"]),
    st.sampled_from(["asyncio", "trio"]),
)
def test_a_run_on_mocks_is_the_run_that_was_recorded(
    steps: list[list[ToolCall]], backend: str, other: str
) -> None:
    script: list[Scripted] = [*(reply(*calls) for calls in steps), reply("That is all.")]

    async def main(tools: tuple[AnyTool[object, object], ...]) -> tuple[Run[str], Program]:
        agent = Agent(model=ScriptedModel(script), tools=tools)
        run = await agent.generate("Go.", clock=VirtualClock(), run_id="run", seed=0)
        return run, agent.program

    ran: list[str] = []
    tools = tools_of(ran)
    first, program = anyio.run(main, tools, backend=backend)
    count = len(ran)
    mocks = tuple(mock_tool(one, first.steps) for one in tools)
    again, mocked = anyio.run(main, mocks, backend=other)

    laws.same_history(first.state, again.state)
    assert [step.content for step in again.steps] == [step.content for step in first.steps]
    assert mocked.fingerprint == program.fingerprint
    assert len(ran) == count
