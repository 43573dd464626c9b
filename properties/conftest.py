"""How long and how hard the properties are tried: HYPOTHESIS_PROFILE=dev|ci|nightly."""

import os

import pytest
from hypothesis import settings

# No deadline: the machine's load is no fault of the code.
settings.register_profile("dev", max_examples=20, deadline=None, print_blob=True)
# Derandomised, so that a change fails for what it changed and for nothing else.
settings.register_profile(
    "ci", max_examples=100, deadline=None, print_blob=True, derandomize=True, database=None
)
settings.register_profile("nightly", max_examples=5000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run each async property on both event loops."""
    return str(request.param)
