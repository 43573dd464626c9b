"""How long and how hard the properties are tried: HYPOTHESIS_PROFILE=dev|ci|nightly|mutants."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

# No deadline: the machine's load is no fault of the code.
settings.register_profile("dev", max_examples=20, deadline=None, print_blob=True)
# Derandomised, so that a change fails for what it changed and for nothing else.
settings.register_profile(
    "ci", max_examples=100, deadline=None, print_blob=True, derandomize=True, database=None
)
settings.register_profile("nightly", max_examples=5000, deadline=None, print_blob=True)
# For `make mutants`: whether a test fails is all that is asked, thousands of times.
settings.register_profile(
    "mutants",
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    report_multiple_bugs=False,
    suppress_health_check=tuple(HealthCheck),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run each async property on both event loops."""
    return str(request.param)
