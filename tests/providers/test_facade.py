"""The façade of providers: every name is there, and nothing is loaded that is not used."""

import subprocess
import sys

import pytest

from stepfold import providers

LOADED = """
import sys
from stepfold import providers
{use}
print(*sorted(name for name in sys.modules if name.startswith("stepfold.providers.")))
"""


def loaded_by(use: str) -> set[str]:
    """The packages of protocols that another process loads."""
    code = LOADED.format(use=use)
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    return {name.split(".")[2] for name in ran if not name.split(".")[2].startswith("_")}


def test_every_name_is_there() -> None:
    assert [name for name in providers.__all__ if getattr(providers, name) is None] == []
    assert dir(providers) == sorted(providers.__all__)


def test_a_name_that_is_not_there_is_told() -> None:
    name = "nobody"
    with pytest.raises(AttributeError, match=r"'stepfold\.providers' has no attribute 'nobody'"):
        getattr(providers, name)


@pytest.mark.parametrize(
    ("use", "loaded"),
    [
        ("", set[str]()),
        ("providers.openai_compatible", {"openai_chat"}),
        ("providers.anthropic", {"anthropic_messages"}),
        (
            "import os; os.environ['GROQ_API_KEY'] = 'k'; providers.resolve_model('groq/x')",
            {"openai_chat"},
        ),
    ],
    ids=["the package", "chat", "anthropic", "by name"],
)
def test_a_protocol_is_loaded_when_it_is_used(use: str, loaded: set[str]) -> None:
    assert loaded_by(use) == loaded
