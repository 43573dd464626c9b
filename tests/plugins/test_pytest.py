"""What pytest gets where stepfold is installed: fixtures, a marker, and transcripts."""

import pytest

pytest_plugins = ["pytester"]

TALK = """
import stepfold as sf
from stepfold.testing import reply

def test_talk(scripted_model, transcript):
    agent = sf.Agent(model=scripted_model([reply({said!r})]))
    transcript.check(agent.generate_sync("Hello", observers=[transcript]))
"""


def ran(pytester: pytest.Pytester, code: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=code)
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)


def test_transcripts_are_written_compared_and_rewritten(pytester: pytest.Pytester) -> None:
    missing = ran(pytester, TALK.format(said="Hi"))
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*no transcript is kept at*write it by pytest --rewrite-*"])

    ran(pytester, TALK.format(said="Hi"), "--rewrite-transcripts").assert_outcomes(passed=1)
    kept = pytester.path / "transcripts" / "it.talk.txt"
    assert "assistant: Hi" in kept.read_text("utf-8")
    ran(pytester, TALK.format(said="Hi")).assert_outcomes(passed=1)

    other = ran(pytester, TALK.format(said="Bye"))
    other.assert_outcomes(failed=1)
    other.stdout.fnmatch_lines(["*-  assistant: Hi", "*+  assistant: Bye"])


def test_transcripts_are_kept_where_it_is_said(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nstepfold_transcripts = golden")

    ran(pytester, TALK.format(said="Hi"), "--rewrite-transcripts").assert_outcomes(passed=1)

    assert (pytester.path / "golden" / "it.talk.txt").exists()


def test_a_script_that_is_not_used_up_fails(pytester: pytest.Pytester) -> None:
    code = """
from stepfold.testing import reply

def test_talk(scripted_model):
    scripted_model([reply("Hi"), reply("Bye")])
"""
    result = ran(pytester, code)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*expected that all of the script is asked for, got 2 left*"])


def test_the_clock_does_not_wait(pytester: pytest.Pytester) -> None:
    code = """
import anyio

def test_wait(virtual_clock):
    anyio.run(virtual_clock.sleep_until, virtual_clock.now() + 10**15)
    assert len(virtual_clock.slept) == 1
"""
    ran(pytester, code).assert_outcomes(passed=1)


NETWORK = """
import socket
import pytest

def reach():
    socket.create_connection(("192.0.2.1", 9), timeout=0.2)

@pytest.mark.no_network
def test_marked():
    reach()

@pytest.fixture
def reaching():
    reach()

@pytest.mark.no_network(loopback=False)
def test_fixtures_count(reaching):
    pass

def test_guarded(no_network):
    with pytest.raises(Exception, match="forbids"):
        reach()
    assert no_network.blocked
"""


def test_the_network_is_forbidden_by_marker_and_fixture(pytester: pytest.Pytester) -> None:
    result = ran(pytester, NETWORK, "--strict-markers")

    result.assert_outcomes(failed=1, errors=1, passed=1)
    result.stdout.fnmatch_lines(["*NetworkBlocked: 192.0.2.1:9*"])


def test_the_option_is_explained(pytester: pytest.Pytester) -> None:
    result = ran(pytester, "", "--help")

    result.stdout.fnmatch_lines(["stepfold:", "*--rewrite-transcripts*"])


def test_nothing_of_stepfold_is_imported_before_it_is_used(pytester: pytest.Pytester) -> None:
    code = """
import sys

def test_unused():
    loaded = {name for name in sys.modules if name.startswith("stepfold.")}
    assert loaded == {"stepfold.plugins", "stepfold.plugins._pytest"}
    assert not {"httpx", "attrs", "anyio.abc"} & set(sys.modules)
"""
    ran(pytester, code, "-p", "no:anyio", "-p", "no:hypothesispytest").assert_outcomes(passed=1)
