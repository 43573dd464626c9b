"""A worker in a process of its own, to be killed: ADDRESS QUEUE WORLD."""

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from stepfold.durable import FileChannel, temporal
from tests.durable.temporal.program import Booker, Looker, Speaker, Thinker


async def main(address: str, queue: str, world: Path) -> None:
    """Work until somebody ends this."""
    channel = FileChannel(world / "shown")
    served = (
        temporal.serve(Looker, deps=world),
        temporal.serve(Booker, deps=world),
        temporal.serve(Thinker, channel=channel),
        temporal.serve(Speaker, channel=channel),
    )
    client = await Client.connect(address, plugins=[temporal.plugin(*served)])
    soon = timedelta(seconds=0.3)
    async with Worker(
        client,
        task_queue=queue,
        max_heartbeat_throttle_interval=soon,
        sticky_queue_schedule_to_start_timeout=soon,
    ):
        (world / f"ready-{os.getpid()}").touch()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
