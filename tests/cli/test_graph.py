import json
from pathlib import Path

import pytest

from tests.cli._desk import Command

PIPELINES = """
import stepfold as sf


@sf.stage
def length(text: str) -> int:
    return len(text)


asking = length.then(sf.await_input(bool, name="approval", ask=str)).named("asking")
number = 3
"""


@pytest.fixture(autouse=True)
def _pipelines(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (desk / "pipelines_of_mine.py").write_text(PIPELINES, "utf-8")


def test_a_pipeline_is_shown_as_a_tree(stepfold: Command) -> None:
    done = stepfold("graph", "pipelines_of_mine:asking")

    assert (done.code, done.err) == (0, "")
    assert done.out == "asking\n├─ length\n└─ await input approval: bool\n"


def test_a_pipeline_is_shown_as_a_flow_chart(stepfold: Command) -> None:
    done = stepfold("graph", "pipelines_of_mine:asking", "--format", "mermaid")

    assert done.code == 0
    assert done.out.startswith("flowchart TD\n")
    assert 'n3[/"await input approval: bool"/]' in done.out


def test_schemas_are_shown(stepfold: Command) -> None:
    done = stepfold("graph", "pipelines_of_mine:asking", "-f", "json")

    assert done.code == 0
    shown = json.loads(done.out)
    assert shown["schemas"] == {
        "given": {"type": "string"},
        "value": {"type": "boolean"},
        "input approval": {"type": "boolean"},
    }
    assert shown["tree"].startswith("asking")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("pipelines_of_mine:number",),
            "expected a pipeline (sf.Stage), got an object of the type int",
        ),
        (("pipelines_of_mine:nothing",), "has no 'nothing'"),
        (("nowhere:pipeline",), "there is no module 'nowhere'"),
        (("pipelines_of_mine:asking", "-f", "png"), "expected one of tree, mermaid, json"),
    ],
    ids=["no pipeline", "no name", "no module", "no format"],
)
def test_what_cannot_be_shown_is_explained(
    stepfold: Command, arguments: tuple[str, ...], told: str
) -> None:
    done = stepfold("graph", *arguments)

    assert done.code == 2
    assert told in " ".join(done.err.split())
