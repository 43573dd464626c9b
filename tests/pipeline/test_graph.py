"""Pipelines drawn, before anything runs."""

import json
from typing import Literal

from attrs import frozen

import stepfold as sf
from stepfold.pipeline import Verdict


@frozen
class Note:
    text: str


@sf.stage
def words(note: Note) -> list[str]:
    return note.text.split()


@sf.stage
def weigh(word: str) -> sf.Outcome[int, str]:
    return sf.Success(len(word))


@sf.stage
def total(weights: tuple[int, ...]) -> int:
    return sum(weights)


@sf.stage
def judge(number: int) -> Verdict[str]:
    return sf.Accepted()


@sf.stage
def better(revision: sf.Revision[int, str]) -> int:
    return revision.draft


def is_big(number: int) -> bool:
    return number > 9


def shown(number: int) -> str:
    return f"{number}?"


EITHER = sf.branch(
    sf.case(Literal[1]).then(sf.stage(str)) | sf.case(int).then(sf.pure(repr) >> sf.pure(len))
)
PIPELINE = (
    sf.given(Note)
    .then(words)
    .map_each(weigh.retry(2), limit=4)
    .then(total)
    .then(sf.await_input(int, name="figure", ask=shown))
    .loop_until(sf.pure(abs), is_big, at_most=3)
    .improve_until_accepted(judge, better, at_most=2)
    .timeout(2.5)
    .recover(lambda _: 0)
    .then(EITHER)
    .parallel(sf.pure(str) & sf.pure(repr).race(sf.pure(ascii)))
    .fallback(sf.pure(str))
    .named("all")
)


def test_a_pipeline_is_drawn_as_a_tree() -> None:
    assert PIPELINE.tree().splitlines() == [
        "all",
        "└─ fallback",
        "   ├─ first:",
        "   │  ├─ timeout after 2.5 s",
        "   │  │  ├─ given Note",
        "   │  │  ├─ words",
        "   │  │  ├─ items",
        "   │  │  ├─ map_each, at most 4 at once",
        "   │  │  │  └─ retry, 2 attempts",
        "   │  │  │     └─ weigh",
        "   │  │  ├─ total",
        "   │  │  ├─ await input figure: int",
        "   │  │  ├─ loop until is_big, at most 3 rounds",
        "   │  │  │  └─ abs",
        "   │  │  └─ improve until accepted, at most 2 times",
        "   │  │     ├─ evaluate: judge",
        "   │  │     └─ improve: better",
        "   │  ├─ recover",
        "   │  ├─ branch",
        "   │  │  ├─ 1: str",
        "   │  │  └─ int:",
        "   │  │     ├─ repr",
        "   │  │     └─ len",
        "   │  └─ parallel",
        "   │     ├─ 1: str",
        "   │     └─ 2: race",
        "   │        ├─ 1: repr",
        "   │        └─ 2: ascii",
        "   └─ otherwise: str",
    ]
    assert sf.Stage[int, int, str].tree(sf.identity()) == "what was given"


def test_a_pipeline_is_drawn_as_a_flow_chart() -> None:
    chart = sf.given(int).then(EITHER).recover(lambda _: 0).named('"x"').mermaid()

    assert chart.splitlines() == [
        "flowchart TD",
        '  n0(["given"])',
        '  subgraph s1["#quot;x#quot;"]',
        '    n1((" "))',
        "    n0 --> n1",
        '    n2["given int"]',
        "    n1 --> n2",
        '    n3{"branch"}',
        "    n2 --> n3",
        '    n4["str"]',
        '    n3 -- "1" --> n4',
        '    n5["repr"]',
        '    n3 -- "int" --> n5',
        '    n6["len"]',
        "    n5 --> n6",
        '    n7["recover"]',
        '    n4 -. "failure" .-> n7',
        '    n6 -. "failure" .-> n7',
        "  end",
        '  n8(["done"])',
        "  n4 --> n8",
        "  n6 --> n8",
        "  n7 --> n8",
    ]


def test_every_part_can_be_drawn() -> None:
    chart = PIPELINE.mermaid()

    for text in ("improve until accepted", "first success", "await input figure", "again", "done"):
        assert text in chart
    deep = sf.given(int)
    for _ in range(1_000):
        deep = deep.retry(2).idempotent()
    assert deep.tree().count("retry") == deep.mermaid().count("retry") == 1_000


def test_schemas_are_those_of_the_annotations() -> None:
    found = {
        name: None if schema is None else json.loads(schema.text)
        for name, schema in words.map_each(weigh, limit=1).then(total).schemas().items()
    }

    assert found["given"] is not None
    assert found["given"]["properties"] == {"text": {"type": "string"}}
    assert found["value"] == {"type": "integer"}
    assert PIPELINE.schemas()["value"] is None
    figure = PIPELINE.schemas()["input figure"]
    assert figure is not None
    assert json.loads(figure.text) == {"type": "integer"}
    assert sf.pure(lambda given: given).schemas() == {"given": None, "value": None}
