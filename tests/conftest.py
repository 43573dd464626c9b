"""Each async test runs twice, on asyncio and on trio."""

import pytest


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Name the event loop that the test runs on."""
    return str(request.param)
