"""Short ways to run tools, for the tests beside this file."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from stepfold.agent import Agent, Run
from stepfold.loop.commands import CallKey
from stepfold.loop.notes import ToolFinished
from stepfold.shell import AnyTool, RunPart
from stepfold.testing import Scripted, ScriptedModel, call, reply
from stepfold.values import ToolError, ToolResult

D = TypeVar("D")

DONE = reply("done")


def model_calling(
    *tools: str | AnyTool[D, object], input: str | Mapping[str, object] = "{}"
) -> ScriptedModel:
    """A model that calls these tools side by side, and then says `done`."""
    return ScriptedModel([reply(*(call(tool, input) for tool in tools)), DONE])


def agent_of(*tools: AnyTool[object, object], script: Sequence[Scripted] | None = None) -> Agent:
    """An agent with these tools; its model calls each of them once, or says what is given."""
    model = model_calling(*tools) if script is None else ScriptedModel(script)
    return Agent(model=model, tools=tools)


async def ran(
    tool: AnyTool[object, object], input: str | Mapping[str, object] = "{}"
) -> ToolResult | ToolError:
    """What a step holds of one call of a tool."""
    run = await Agent(model=model_calling(tool, input=input), tools=[tool]).generate("Go.")
    assert run.text == "done"
    return settled(run)[0]


def settled(run: Run[object]) -> tuple[ToolResult | ToolError, ...]:
    """What came of the calls of the first step, in call order."""
    content = run.steps[0].content
    return tuple(part for part in content if isinstance(part, ToolResult | ToolError))


def names(parts: Sequence[RunPart]) -> list[str]:
    """What the parts of a stream are."""
    return [type(part).__name__ for part in parts]


def finished(parts: Sequence[RunPart]) -> list[CallKey]:
    """Which calls were settled, in the order of settling."""
    return [part.key for part in parts if isinstance(part, ToolFinished)]
