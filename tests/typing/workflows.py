"""Workflows: typed by their agent, whose deps are asked for where its tools run."""

from typing import assert_type

from temporalio.client import Client

import stepfold as sf
from stepfold import durable
from stepfold.durable import temporal


class Deps:
    topic: str


class Report:
    text: str


def report_of(value: object) -> Report:
    return Report()


@sf.tool
async def look(context: sf.ToolContext[Deps]) -> str:
    return context.deps.topic


plain = sf.Agent(model="a/b")
reporter = sf.Agent(model="a/b", deps_type=Deps, tools=[look], output=sf.object_of(Report))


class Plain(temporal.RunWorkflow):
    agent = plain


class Reporting(temporal.RunWorkflow[Deps, Report], name="reporting"):
    agent = reporter
    engine = temporal.EngineOptions(heartbeat_seconds=5)


class WrongOutput(temporal.RunWorkflow[Deps, str]):
    agent = reporter  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


class WrongDeps(temporal.RunWorkflow[object, Report]):
    agent = reporter  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


async def spoken_to(client: Client, channel: durable.StreamChannel) -> None:
    handle = await temporal.start(client, Reporting, "Go.", id="a", task_queue="q")
    assert_type(handle, temporal.RunHandle[Report])
    run = await handle.result()
    assert_type(run, sf.Run[Report])
    assert_type(await handle.at_rest(), sf.Run[Report])
    assert_type(await handle.state(), sf.LoopState)
    assert_type(await handle.steer("Faster."), bool)
    await handle.answer([sf.approve(request) for request in run.open_approvals])
    async with handle.stream(channel) as parts:
        async for part in parts:
            assert_type(part, durable.StreamedPart)
    again = temporal.handle_of(client, Plain, "b")
    assert_type(await again.result(), sf.Run[str])


temporal.plugin(temporal.serve(Plain), temporal.serve(Reporting, deps=Deps()))
channel: durable.StreamChannel = durable.FileChannel("shown")


async def mistakes(client: Client, handle: temporal.RunHandle[str]) -> None:
    temporal.serve(Reporting)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    temporal.serve(Reporting, deps=5)  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
    temporal.plugin(Plain)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    temporal.EngineOptions(5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await temporal.start(client, Plain, "Go.", id="a")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await temporal.start(client, Plain, 5, id="a", task_queue="q")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await handle.answer(["yes"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    await handle.steer(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
