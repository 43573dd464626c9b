"""Tools that the model finds by a search, and tools that it may not call wrongly for ever."""

import pytest

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply, run_script


@sf.tool(defer_loading=True)
def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city}"


@sf.client_tool(defer_loading=True)
def locate() -> str:
    """Tell where the user is."""
    raise NotImplementedError


@sf.tool(max_retries=1)
def divide(a: int, b: int) -> float:
    """Divide two numbers."""
    return a / b


SEARCHES = [
    reply(call("tool_search", {"query": "weather"})),
    reply(call("get_weather", {"city": "Oslo"})),
    reply("Sunny."),
]


@pytest.mark.parametrize("how", ["generate", "stream"])
async def test_a_tool_is_called_after_it_was_found(how: str) -> None:
    """A replay needs nobody for it."""
    model = ScriptedModel(SEARCHES)
    agent = sf.Agent(model=model, tools=[get_weather, locate, sf.tool_search()])
    journal = sf.MemoryJournal()
    if how == "generate":
        run = await agent.generate("How is the weather in Oslo?", journal=journal)
    else:
        async with agent.stream("How is the weather in Oslo?", journal=journal) as stream:
            run = await stream.run()

    assert run.results_of(get_weather) == ("sunny in Oslo",)
    offered = [[tool.name for tool in request.tools] for request in model.requests]
    assert offered == [["tool_search"], ["get_weather", "tool_search"]] + [offered[1]]
    assert sf.replay(agent.program, journal.header, journal.entries) == sf.Success(run.state)


def test_a_search_may_have_a_name_and_a_bound_of_its_own() -> None:
    find = sf.tool_search(name="find", description="Find.", max_results=1)
    agent = sf.Agent(model=ScriptedModel([]), tools=[get_weather, locate, find])

    spec = agent.program.tools["find"]
    assert (spec.definition.description, spec.searches) == ("Find.", 1)


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_a_search_finds_at_least_one(most: int) -> None:
    with pytest.raises(sf.UsageError, match="expected max_results of at least 1"):
        sf.tool_search(max_results=most)


def test_a_search_has_a_name_of_its_own() -> None:
    model = ScriptedModel([])
    with pytest.raises(sf.UsageError, match="got two of 'tool_search'"):
        sf.Agent(model=model, tools=[sf.tool_search(), sf.tool_search()])
    with pytest.raises(sf.UsageError, match="got two of 'divide'"):
        sf.Agent(model=model, tools=[divide, sf.tool_search(name="divide")])


def test_a_tool_that_fails_once_too_often_stops_the_run() -> None:
    wrong = reply(call(divide, {"a": 1, "b": 0}))
    run = run_script([wrong, wrong, reply("Sorry.")], tools=[divide])

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "limit-retries"
    assert run.end.stop.evidence == sf.JsonText('{"tool":"divide","reached":2,"limit":1}')


@pytest.mark.parametrize("most", [-1, True, 1.5, "2"])
def test_retries_are_a_whole_number(most: int) -> None:
    with pytest.raises(sf.UsageError, match="tool divide: expected max_retries"):
        sf.tool(max_retries=most)(divide)
