"""A user's file: an agent with three tools, a typed output, and what is read off the run."""

from collections.abc import AsyncIterator
from typing import Protocol, assert_type

from attrs import frozen

import stepfold as sf


class Weather(Protocol):
    async def today(self, city: str) -> float: ...


@frozen
class Deps:
    weather: Weather


@frozen
class Forecast:
    city: str
    celsius: float


@frozen
class NoSuchCity:
    city: str


@frozen
class Report:
    answer: str
    warmer: str


@sf.tool
async def weather(context: sf.ToolContext[Deps], city: str) -> Forecast:
    """Look up today's weather."""
    return Forecast(city, await context.deps.weather.today(city))


@sf.tool(needs_approval=True, timeout=5)
def book(city: str, nights: int = 1) -> sf.Outcome[int, NoSuchCity]:
    """Book a hotel."""
    return sf.Success(nights) if city else sf.Failure(NoSuchCity(city))


@sf.tool
async def search(query: str) -> AsyncIterator[list[str]]:
    """Search the web."""
    yield [query]


agent = sf.Agent(
    model="openai/gpt-5.4",
    deps_type=Deps,
    instructions="Answer in one sentence.",
    tools=[weather, book, search],
    output=sf.object_of(Report),
    stop_when=sf.any_of(sf.is_step_count(20), sf.token_budget(50_000)),
)


async def main(deps: Deps) -> None:
    assert_type(agent, sf.Agent[Deps, Report])
    run = await agent.generate("Is it warmer in Oslo or Rome?", deps=deps)
    assert_type(run, sf.Run[Report])
    assert_type(run.unwrap(), Report)
    assert_type(run.output, sf.Outcome[Report, sf.NoOutput])
    assert_type(run.results_of(weather), tuple[Forecast, ...])
    assert_type(run.results_of(book), tuple[int, ...])
    assert_type(run.results_of(search), tuple[list[str], ...])

    assert_type(await weather(sf.ToolContext(deps, "", 0, (), ""), "Oslo"), Forecast)
    assert_type(book("Oslo", nights=2), sf.Outcome[int, NoSuchCity])

    async with agent.stream("And tomorrow?", deps=deps) as stream:
        assert_type(stream, sf.RunStream[Report])
        async for part in stream:
            assert_type(part, sf.RunPart)
        async for piece in stream.text():
            assert_type(piece, str)
        assert_type(await stream.run(), sf.Run[Report])

    match run.end:
        case sf.Completed(report):
            assert_type(report, Report)
        case sf.Stopped(stop):
            assert_type(stop, sf.Stop)
        case sf.Blocked(requests):
            assert_type(requests, tuple[sf.OpenRequest, ...])
            assert_type(run.open_approvals, tuple[sf.OpenApproval, ...])
            answers = [sf.approve(one) for one in run.open_approvals]
            assert_type(await agent.answer(run, answers, deps=deps), sf.Run[Report])
        case sf.Failed(error):
            assert_type(error, sf.RunError)
        case sf.Cancelled(reason):
            assert_type(reason, str)
