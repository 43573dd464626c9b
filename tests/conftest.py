"""Each async test runs twice, on asyncio and on trio."""

import pytest

# Projects of their own: tests/contracts/ installs them and runs their tests.
collect_ignore = ["fixtures"]


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Name the event loop that the test runs on."""
    return str(request.param)
