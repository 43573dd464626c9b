import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli._desk import Command

ADDED = '''
import stepfold as sf
from stepfold.loop import Progress
from stepfold.ports import LanguageModel


@sf.tool
def look(key: int) -> str:
    """Look something up."""
    return str(key)


@sf.tool
def quit(key: int) -> str:
    """End the process."""
    raise SystemExit(key)


STOP = sf.Stop("enough", sf.JsonText("3"))


def jumped(progress: Progress) -> sf.Stop | None:
    return STOP if len(progress.steps) == 3 else None


shipped = sf.is_step_count(3)


def untold(progress):
    return None


class Plain:
    def __init__(self, inner: LanguageModel) -> None:
        self.inner = inner
        self.provider, self.model_id = inner.provider, inner.model_id
        self.generate, self.stream = inner.generate, inner.stream


def smooth(control: sf.StreamControl) -> sf.PartTransform:
    return sf.smooth_stream(delay=None)(control)


@sf.stage
def doubled(number: int) -> int:
    print("it ran")
    return 2 * number


@sf.stage
def brittle(number: int) -> float:
    return 1 / number


numbers = [1, 0]
number = 3
'''


@pytest.fixture(autouse=True)
def added(desk: Path) -> Iterator[None]:
    """A module of what a user has added, in the folder where the command runs."""
    (desk / "added.py").write_text(ADDED, "utf-8")
    yield
    sys.modules.pop("added", None)


def test_what_it_is_is_told_by_class_and_annotations(stepfold: Command) -> None:
    names = ["look", "doubled", "shipped", "Plain", "smooth"]
    targets = [f"added:{name}" for name in names]
    done = stepfold("laws", *targets)

    assert (done.code, done.err) == (0, "")
    held = done.out.splitlines()
    assert [line.split(":", 2)[1] for line in held] == names
    assert all(line.startswith("held    added:") for line in held)
    assert "it was not run (--execute)" in held[0]


def test_a_broken_law_is_shown_with_the_smallest_case(stepfold: Command) -> None:
    done = stepfold("laws", "added:jumped", "added:look")

    assert done.code == 1
    assert done.out.startswith(
        "broken  added:jumped\n  jumped: what stops a run stops every longer one\n"
    )
    assert "after 3 steps: it stops: enough" in done.out
    assert "held    added:look" in done.out


def test_a_window_is_not_asked_to_be_monotone(stepfold: Command) -> None:
    assert stepfold("laws", "added:jumped", "--window").code == 0


def test_tools_run_only_if_that_is_asked_for(stepfold: Command) -> None:
    assert stepfold("laws", "added:quit").code == 0
    done = stepfold("laws", "added:quit", "--execute")

    assert done.code == 1
    assert "came: SystemExit: 0" in done.out


def test_stages_run_only_on_what_is_given(stepfold: Command) -> None:
    alone = stepfold("laws", "added:doubled", "added:brittle")
    run = stepfold("laws", "added:doubled", "--execute", "--given", "added:numbers")
    broken = stepfold("laws", "added:brittle", "--execute", "--given", "added:numbers")
    world = stepfold("laws", "added:doubled", "--execute", "--given", "added:number", "--world")

    assert (alone.code, run.code, broken.code, world.code) == (0, 0, 1, 0)
    assert "it ran" not in alone.out
    assert "it ran" in run.out
    assert "before or after; it was run" in run.out
    assert broken.out.startswith(
        "broken  added:brittle\n  brittle: a stage gives a value or a fail"
    )
    assert "given: 0" in broken.out


def test_it_is_told_what_is_being_tried(stepfold: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("stepfold.cli._screen.Screen.busy", lambda _, doing: told.append(doing))
    stepfold("laws", "added:look", "added:doubled")

    assert told == [
        "1 of 2: the laws of a tool, tried on added:look",
        "2 of 2: the laws of a stage, tried on added:doubled",
    ]


def test_a_kind_may_be_said(stepfold: Command) -> None:
    done = stepfold("laws", "added:untold", "--kind", "condition")

    assert done.code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("added:untold",), "annotate its parameter (Progress, LanguageModel or StreamControl)"),
        (("added:number",), "got an object of the type int"),
        (("added:nothing",), "the module added has no 'nothing'"),
        (("added:look", "--kind", "gadget"), "--kind: expected one of tool, stage, condition, m"),
        (("added:number", "--kind", "condition"), "expected a plain function of Progress"),
        (("added:number", "--kind", "stage"), "expected a stage, such as @sf.stage makes, got 3"),
        (("added:doubled", "--execute"), "--execute: expected --given MODULE:NAME"),
        (("added:doubled", "--given", "added:number"), "--given: expected --execute beside it"),
    ],
)
def test_a_mistake_is_told(stepfold: Command, arguments: tuple[str, ...], told: str) -> None:
    done = stepfold("laws", *arguments)

    assert done.code == 2
    assert told in done.err
