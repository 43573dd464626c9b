"""What stands in for models and tools in tests: it fits where the real ones do, and no type is lost."""

from typing import assert_type

from attrs import frozen
from hypothesis import strategies as st

from stepfold import Agent, AnyTool, LanguageModel, Middleware, Run, ToolContext, tool
from stepfold.codec import DecodeFault
from stepfold.testing import (
    ChaosModel,
    Exchange,
    SchemaModel,
    ScriptedModel,
    ScriptRecorder,
    mock_tool,
    no_network,
    read_script,
    reply,
)
from stepfold.testing.strategies import schema_documents
from stepfold.values import ModelErrorReason, ModelReply, ModelRequest, Outcome, StreamPart


@frozen
class Forecast:
    celsius: float


@tool
async def weather(context: ToolContext[str], city: str) -> Forecast:
    """Ask for the weather."""
    return Forecast(17.3)


# --- models -----------------------------------------------------------------------------------

request = ModelRequest(messages=())
scripted: LanguageModel = ScriptedModel([reply("Hello."), Exchange(request, reply("Hello."))])
chaotic: LanguageModel = ChaosModel(scripted, seed=1)
recording: LanguageModel = ScriptRecorder(chaotic)
drawn: LanguageModel = SchemaModel(seed=1)
layer: Middleware = ScriptRecorder

ChaosModel(scripted)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def from_hypothesis(data: st.DataObject) -> LanguageModel:
    return SchemaModel(data.draw)


SchemaModel(len)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# --- scripts ----------------------------------------------------------------------------------

assert_type(ScriptRecorder(scripted).script, tuple[Exchange, ...])
assert_type(read_script("weather.json"), Outcome[tuple[Exchange, ...], DecodeFault])
assert_type(
    Exchange(request, reply("Hello.")).answer,
    ModelReply | ModelErrorReason | tuple[StreamPart, ...],
)
with ScriptedModel(read_script("weather.json").unwrap()) as model:
    assert_type(model, ScriptedModel)

Exchange(request, "Hello.")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# --- mocks: deps and results are those of the tool ----------------------------------------------


async def mocked(run: Run[str]) -> None:
    double = mock_tool(weather, run.steps)
    assert_type(run.results_of(double), tuple[Forecast, ...])
    with_deps: AnyTool[str, object] = double
    without: AnyTool[int, object] = double  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    agent = Agent(model=scripted, tools=[double], deps_type=str)
    await agent.generate("Go.", deps="Oslo")
    await agent.generate("Go.")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    mock_tool(weather, run)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    del with_deps, without


assert_type(schema_documents(schema={"type": "object"}), st.SearchStrategy[object])

with no_network(loopback=False) as guard:
    assert_type(guard.blocked, tuple[str, ...])
