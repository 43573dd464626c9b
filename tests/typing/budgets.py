"""Budgets: money is whole numbers, a deadline is one of two, a child has a parent of any deps."""

from typing import assert_type

import stepfold as sf


class Deps:
    topic: str


@sf.tool(grant=sf.Limits(tokens=1_000))
async def research(context: sf.ToolContext[Deps], topic: str) -> str:
    assert_type(context.grant, sf.Limits | None)
    child = sf.Agent(model="a/b", limits=context.grant)
    run = await child.generate(topic, parent=context)
    async with child.stream(topic, parent=context) as stream:
        await stream.run()
    context.report(run.usage, cost=run.cost)
    return run.unwrap()


agent = sf.Agent(
    model="a/b",
    deps_type=Deps,
    tools=[research],
    prices={"a/b": sf.Price(input=1, output=2)},
    limits=sf.Limits(cost=5),
    stop_when=sf.deadline(after=5) | sf.deadline(at=5) | sf.cost_budget(3) | sf.stalled(2),
)


async def spent(deps: Deps) -> None:
    run = await agent.generate("Go.", deps=deps)
    assert_type(run.cost, int | None)
    assert_type(run.steps[0].cost, int | None)
    assert_type(run.state.progress, sf.Progress)


async def mistakes(child: sf.Agent) -> None:
    sf.Price(input=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    sf.Price(input=1.5, output=2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.Limits(cost=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.deadline()  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    sf.deadline(at=5, after=5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    sf.deadline(at=0.5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    sf.tool(grant=5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    sf.Agent(model="a/b", prices={"a/b": 5})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    await child.generate("Go.", parent=5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
