"""Fixtures, a marker and an option for pytest. Nothing of stepfold is imported before its use."""

import re
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import pytest

if TYPE_CHECKING:
    from stepfold.testing import NetworkGuard, Scripted, ScriptedModel, Transcript, VirtualClock

_OPTION: Final = "--rewrite-transcripts"
_FOLDER: Final = "stepfold_transcripts"
_BACKENDS: Final = re.compile(r"\b(asyncio|trio)(\+\w+)?\b")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option by which transcripts are written anew, and where they are kept."""
    group = parser.getgroup("stepfold")
    group.addoption(
        _OPTION,
        action="store_true",
        help="write the golden transcripts of the tests that run anew, instead of comparing them",
    )
    parser.addini(
        _FOLDER,
        "the folder of golden transcripts, from the root; by default, one beside each test",
        default="",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Say what the marker means."""
    config.addinivalue_line(
        "markers",
        "no_network(loopback=True): fail where the test reaches for the network; this machine "
        "itself may be reached, unless loopback=False",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Keep the marked tests from the network, fixtures included."""
    marker = item.get_closest_marker("no_network")
    if marker is None:
        return (yield)
    from stepfold.testing import no_network

    with no_network(**marker.kwargs):
        return (yield)


@pytest.fixture
def no_network() -> "Iterator[NetworkGuard]":
    """Forbid the network while the test runs; `blocked` of the guard lists what was refused."""
    from stepfold.testing import no_network as guard

    with guard() as up:
        yield up


@pytest.fixture
def virtual_clock() -> "VirtualClock":
    """A clock that never waits."""
    from stepfold.testing import VirtualClock

    return VirtualClock()


class MakeScriptedModel(Protocol):
    """What the fixture `scripted_model` gives: it makes models that say what they are told to."""

    def __call__(
        self, replies: "Sequence[Scripted]", /, *, chunk_size: int | None = None
    ) -> "ScriptedModel":
        """Make a model; at the end of the test nothing of its script may be left."""
        ...


@pytest.fixture
def scripted_model() -> Iterator[MakeScriptedModel]:
    """Make scripted models; a test that passes without using up their scripts fails."""
    from stepfold.testing import ScriptedModel

    made: list[ScriptedModel] = []

    def make(replies: "Sequence[Scripted]", /, *, chunk_size: int | None = None) -> "ScriptedModel":
        made.append(ScriptedModel(replies, chunk_size=chunk_size))
        return made[-1]

    yield make
    left = [item for model in made for item in model.unused]
    if left:
        pytest.fail(
            f"scripted_model: expected that all of the script is asked for, got {len(left)} left, "
            f"the first of which is {left[0]!r:.300}: shorten the script, or let the run go on",
            pytrace=False,
        )


@pytest.fixture
def transcript(request: pytest.FixtureRequest) -> "Transcript":
    """The golden transcript of the test: give it to a run as an observer, then `check(run)`."""
    from stepfold.testing import Transcript

    folder = str(request.config.getini(_FOLDER))
    here = request.path.parent / "transcripts"
    kept = request.config.rootpath / folder if folder else here
    return Transcript(
        kept / _file_of(request.path, request.node.name),
        rewrites=bool(request.config.getoption(_OPTION)),
    )


def _file_of(test: Path, name: str) -> str:
    """One file for a test, on whichever event loop it runs."""
    plain = _BACKENDS.sub("", name.removeprefix("test_"))
    words = re.sub(r"[^\w]+", "-", plain).strip("-")
    return f"{test.stem.removeprefix('test_')}.{words}.txt"
