import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from stepfold.testing.conformance import (
    CONDITION_LAWS,
    MIDDLEWARE_LAWS,
    STAGE_LAWS,
    TOOL_LAWS,
    TRANSFORM_LAWS,
    StatedLaw,
)
from tests.cli._desk import Command
from tests.docs.pages import ROOT

ADDED = '''
import stepfold as sf
from hypothesis import strategies as st
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


@sf.stage
def torn(text: str) -> str:
    print("it ran")
    return text.encode("ascii").decode()[7:][0] if len(text) > 3 else text


@sf.tool
def mute() -> None: ...


numbers = [1, 0]
number = 3
drawn = st.sampled_from([1, 2, 0])
unknown = sf.pure(lambda given: given)
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
    told = [line for line in done.out.splitlines() if line.startswith("added:")]
    assert told == [
        "added:look, a tool",
        "added:doubled, a stage",
        "added:shipped, a stop condition",
        "added:Plain, a middleware",
        "added:smooth, a stream transform",
    ]


@pytest.mark.parametrize(
    ("name", "laws"),
    [
        ("look", TOOL_LAWS),
        ("doubled", STAGE_LAWS),
        ("shipped", CONDITION_LAWS),
        ("Plain", MIDDLEWARE_LAWS),
        ("smooth", TRANSFORM_LAWS),
    ],
)
def test_each_law_has_a_line_of_its_own(
    stepfold: Command, name: str, laws: Sequence[StatedLaw]
) -> None:
    lines = stepfold("laws", f"added:{name}").out.splitlines()[1:-1]

    assert [_status(line) in {"held", "not tried"} for line in lines] == [True] * len(laws)
    for line, law in zip(lines, laws, strict=True):
        assert line[13:].startswith(law.says)


def _status(line: str) -> str:
    return line[2:13].rstrip()


def test_a_broken_law_is_shown_with_the_smallest_case(stepfold: Command) -> None:
    done = stepfold("laws", "added:jumped", "added:look")

    assert done.code == 1
    law = done.out.partition("  broken     ")[2]
    assert law.startswith("what stops a run stops every longer one\n             run: ")
    assert "             after 3 steps: it stops: enough\n" in law
    assert "compare with >= what only grows, or say --window" in law
    assert "added:look, a tool" in law
    assert done.out.splitlines()[-1] == "15 laws: 6 held, 1 broken, 8 not tried"


def test_a_broken_law_hides_no_other(stepfold: Command) -> None:
    done = stepfold("laws", "added:mute", "added:torn", "--execute")

    told = {line[13:]: _status(line) for line in done.out.splitlines() if line.startswith("  ")}
    assert told["a tool tells the model what it does"] == "broken"
    assert told["a tool returns, or raises an Exception"] == "held"
    assert told["a stage gives a value or a failure, and raises nothing"] == "broken"
    assert told["one input has one outcome"] == "held"


def test_what_was_not_tried_says_what_to_say(stepfold: Command) -> None:
    targets = ("added:look", "added:doubled", "added:Plain", "added:smooth", "added:shipped")
    left = [it for it in stepfold("laws", *targets).out.splitlines() if _status(it) == "not tried"]
    options = ("--execute", "--kept", "--trio", "--world", "--transparent", "--lossless")
    every = stepfold("laws", *targets, *options, "--window")

    assert "  not tried  a tool ends (say --execute)" in left
    none = stepfold("laws", "added:doubled", "--execute", "--examples", "0").out
    assert "  not tried  a stage ends (say --given MODULE:NAME)" in none
    assert "=" not in "".join(left)
    assert [it[13:] for it in every.out.splitlines() if _status(it) == "not tried"] == [
        "an idempotent tool gives the same when it is run again (it is not idempotent)",
        "an async tool does not block the event loop (it is not async)",
        "an async tool ends promptly when it is cancelled (it is not async)",
        "a tool ends alike on each event loop it is for (it is not async)",
        "one input has one outcome (--world says so)",
        "an outcome does not depend on what a stage is put together with (--world says so)",
        "what stops a run stops every longer one (--window says so)",
    ]


def test_a_window_is_not_asked_to_be_monotone(stepfold: Command) -> None:
    assert stepfold("laws", "added:jumped", "--window").code == 0


def test_tools_run_only_if_that_is_asked_for(stepfold: Command) -> None:
    assert stepfold("laws", "added:quit").code == 0
    done = stepfold("laws", "added:quit", "--execute")

    assert done.code == 1
    assert "came: SystemExit: 0" in done.out


def test_stages_run_only_if_that_is_asked_for(stepfold: Command) -> None:
    alone = stepfold("laws", "added:doubled", "added:torn")
    run = stepfold("laws", "added:doubled", "--execute")
    broken = stepfold("laws", "added:torn", "--execute")

    assert (alone.code, run.code, broken.code) == (0, 0, 1)
    assert "it ran" not in alone.out
    assert "it ran" in run.out
    assert "             given: '0000'\n" in broken.out


@pytest.mark.parametrize("given", ["numbers", "drawn"])
def test_stages_run_on_what_is_given_besides(stepfold: Command, given: str) -> None:
    options = ("--execute", "--given", f"added:{given}")
    broken = stepfold("laws", "added:brittle", *options)
    unknown = stepfold("laws", "added:unknown", "added:doubled", *options)
    alone = stepfold("laws", "added:doubled", *options, "--examples", "1")

    assert (broken.code, unknown.code, alone.code) == (1, 0, 0)
    assert "             given: 0\n" in broken.out
    assert 1 < alone.out.count("it ran") < 40 < unknown.out.count("it ran")


def test_it_is_told_what_is_being_tried(stepfold: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("stepfold.cli._screen.Screen.busy", lambda _, doing: told.append(doing))
    stepfold("laws", "added:look", "added:doubled")

    assert told[0] == "1 of 2: trying the laws of a tool on added:look"
    assert told[1] == "1 of 2: trying the laws of a tool on added:look (1 so far)"
    assert told[-1] == "2 of 2: trying the laws of a stage on added:doubled"


def test_a_kind_may_be_said(stepfold: Command) -> None:
    done = stepfold("laws", "added:untold", "--kind", "condition")

    assert done.code == 0


def test_what_the_page_shows_is_what_comes(stepfold: Command, desk: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "check-what-you-add.md").read_text("utf-8")
    command, _, shown = page.split("```console\n$ stepfold ")[1].split("```")[0].partition("\n")
    module = "import stepfold as sf\n\n@sf.stage\ndef first_word(text: str) -> str:\n"
    (desk / "my_stages.py").write_text(f"{module}    return text.split()[0]\n", "utf-8")

    done = stepfold(*command.split())
    sys.modules.pop("my_stages")

    assert done.out.split() == shown.split()  # a terminal folds its lines


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("added:untold",), "annotate its parameter (Progress, LanguageModel or StreamControl)"),
        (("added:number",), "got an object of the type int"),
        (("added:nothing",), "the module added has no 'nothing'"),
        (("added:look", "--kind", "gadget"), "--kind: expected one of tool, stage, condition, m"),
        (("added:number", "--kind", "condition"), "expected a plain function of Progress"),
        (("added:number", "--kind", "stage"), "expected a stage, such as @sf.stage makes, got 3"),
        (("added:unknown", "--execute"), "laws added:unknown: check_stage: expected inputs to run"),
        (("added:unknown", "--execute"), "give some, --given MODULE:NAME, or annotate the para"),
        (("desk:look", "--execute"), "the tool look needs deps of the type Database, and the com"),
        (("added:number", "--execute", "--kind", "tool"), "expected a tool, made by @sf.tool, got"),
        (("added:look", "--execute", "--given", "added:number"), "--given: expected a stage to b"),
        (("added:doubled", "--given", "added:number"), "--given: expected --execute beside it"),
    ],
)
def test_a_mistake_is_told(stepfold: Command, arguments: tuple[str, ...], told: str) -> None:
    done = stepfold("laws", *arguments)

    assert done.code == 2
    assert told in done.err
