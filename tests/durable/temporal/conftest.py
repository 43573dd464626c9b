"""A server for the session, and workers on it. The engine's library knows asyncio only."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import TypeAlias, TypeVar
from uuid import uuid4

import pytest
from attrs import frozen
from temporalio.client import Client
from temporalio.converter import StorageDriver
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from stepfold.durable import temporal
from tests.durable.temporal._server import binary, require_binary, temporal_server

D = TypeVar("D")
Out = TypeVar("Out")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def temporal_address() -> Generator[str]:
    """Start a server for the session."""
    require_binary("temporal")
    with temporal_server() as address:
        yield address


@pytest.fixture
async def plain_client(temporal_address: str) -> Client:
    """Give a client that knows nothing of runs."""
    return await Client.connect(temporal_address)


@frozen
class Serving:
    """A client, and a queue for which workers are there."""

    client: Client
    queue: str

    async def start(
        self, workflow: type[temporal.RunWorkflow[D, Out]], **options: object
    ) -> temporal.RunHandle[Out]:
        """Begin a run that nobody else has begun."""
        name = f"{workflow.workflow_name}-{uuid4()}"
        given = {"id": name, "task_queue": self.queue} | options
        return await temporal.start(self.client, workflow, "Go", **given)  # type: ignore[arg-type]


Serve: TypeAlias = Callable[..., AbstractAsyncContextManager[Serving]]


@pytest.fixture
def serve(temporal_address: str) -> Serve:
    """Give what lets a worker serve workflows for as long as a block lasts."""

    @asynccontextmanager
    async def serving(
        *served: temporal.Served,
        storage: StorageDriver | None = None,
        queue: str | None = None,
    ) -> AsyncGenerator[Serving]:
        plugin = temporal.plugin(*served, storage=storage)
        client = await Client.connect(temporal_address, plugins=[plugin])
        name = f"queue-{uuid4()}" if queue is None else queue
        soon = timedelta(seconds=0.3)
        async with Worker(client, task_queue=name, max_heartbeat_throttle_interval=soon):
            yield Serving(client, name)

    return serving


@pytest.fixture
def serve_without_waiting() -> Serve:
    """As `serve`, on a server on which time passes as soon as everybody waits for it."""
    require_binary("temporal-test-server")

    @asynccontextmanager
    async def serving(*served: temporal.Served) -> AsyncGenerator[Serving]:
        where = str(binary("temporal-test-server"))
        environment = await WorkflowEnvironment.start_time_skipping(
            test_server_existing_path=where, plugins=[temporal.plugin(*served)]
        )
        async with environment, Worker(environment.client, task_queue="queue"):
            yield Serving(environment.client, "queue")

    return serving
