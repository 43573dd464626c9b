"""A server for the session, and clients of it. The engine's library knows asyncio only."""

import os
from collections.abc import Generator

import pytest
from temporalio.client import Client

from tests.durable.temporal._server import AbsentError, binary, temporal_server


def require(name: str) -> None:
    """See that there is a server to start; skip where that need not be."""
    try:
        binary(name)
    except AbsentError as absent:
        if os.environ.get("STEPFOLD_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(f"no Temporal here: {absent}")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def temporal_address() -> Generator[str]:
    """Start a server for the session."""
    require("temporal")
    with temporal_server() as address:
        yield address


@pytest.fixture
async def plain_client(temporal_address: str) -> Client:
    """Give a client that knows nothing of runs."""
    return await Client.connect(temporal_address)
