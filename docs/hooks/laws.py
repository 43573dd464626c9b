"""Draw for each law what it speaks of: a part of the table of transitions, or what our code does.

A hook of mkdocs: `<!-- law: 6 -->` on a page becomes the drawing of law 6. Laws about phases are
drawn from the table that `stepfold/loop/_step.py` opens with; for the others the code itself is run
while the page is built, so no drawing says what is not so.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import jsonschema
from attrs import frozen

import stepfold as sf
from docs.hooks.phases import Row, diagram, table, transitions
from stepfold.agent import StreamControl
from stepfold.codec import decode, encode
from stepfold.loop import Transition, begin, step
from stepfold.loop.commands import ModelCallKey
from stepfold.loop.events import Event, ModelReplied
from stepfold.shell import CancelHandle
from stepfold.testing import ScriptedModel, reply
from stepfold.values import Success, TextDelta, TextEnd, TextStart

# --- laws that speak of phases ----------------------------------------------------------------


def _leads_to(*targets: str) -> Callable[[Row, str], bool]:
    return lambda _, target: target in targets


def _comes(*events: str, phases: Sequence[str] = ()) -> Callable[[Row, str], bool]:
    return lambda row, _: row.event in events and (not phases or row.phase in phases)


def _within(*phases: str) -> Callable[[Row, str], bool]:
    return lambda row, target: row.phase in phases and target in phases


def _asks(row: Row, target: str) -> bool:
    return "Checking" in {row.phase, target}


def _ends_a_step(row: Row, target: str) -> bool:
    return row.phase in {"Calling", "Working", "Resting"} and target not in {
        *{"Working", "Resting", "Waiting"},
        *({"Calling"} if row.event == "ModelFailed" else ()),
    }


def _admits(row: Row, target: str) -> bool:
    settles = {"ModelReplied", "CallRepaired", "CallBound", "ApprovalDecided", "ApprovalAnswered"}
    return row.event in settles and target == "Working"


PARTS: Mapping[int, Callable[[Row, str], bool]] = {
    4: _ends_a_step,
    5: _leads_to("Calling"),
    6: _within("Working", "Resting"),
    7: _comes("ModelReplied"),
    8: _leads_to("Done"),
    9: _leads_to("Calling", "Working"),
    10: _asks,
    13: _admits,
    14: _comes("Resumed"),
    19: _comes("ApprovalAnswered", "ToolReturned", phases=("Resting",)),
}


def part_of(law: int, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The rows that a law speaks of, each with those of its targets that it speaks of."""
    speaks = PARTS[law]
    found = (
        row._replace(leads_to=tuple(target for target in row.leads_to if speaks(row, target)))
        for row in rows
    )
    return tuple(row for row in found if row.leads_to)


def _phases(law: int) -> str:
    rows = transitions()
    part = part_of(law, rows)
    pairs = {(row.phase, target) for row in part for target in row.leads_to}
    drawn = diagram(rows, only=pairs)
    return f'<figure class="phases">{drawn}</figure>\n\n{table(part)}'


def _interrupted() -> str:
    """Law 15: what the table says below itself, that these two end a run from every phase."""
    phases = dict.fromkeys(row.phase for row in transitions())
    drawn = diagram(transitions(), only={(phase, "Done") for phase in phases})
    told = ", ".join(f"**{phase}**" for phase in phases)
    return f'<figure class="phases">{drawn}</figure>\n\n`Cancelled`, `TimedOut`: {told} → Done'


def _owed() -> str:
    """Law 2: what is in flight in each phase."""
    owes: dict[str, list[str]] = {}
    for row in transitions():
        known = owes.setdefault(row.phase, [])
        words = [row.owes] if row.owes.startswith("(") else row.owes.split()
        known += [word for word in words if word not in known]
    lines = [f"| **{phase}** | {' '.join(map(_command, names))} |" for phase, names in owes.items()]
    return "\n".join(["| phase | `pending(state)` may hold |", "| --- | --- |", *lines])


def _command(name: str) -> str:
    return name.strip("()") if name.startswith("(") else f"`{name}`"


def _grid() -> str:
    """Law 3: which events a phase has an ear for; all others are stale, or were never asked for."""
    rows = transitions()
    events = list(dict.fromkeys(row.event for row in rows))
    phases = list(dict.fromkeys(row.phase for row in rows))
    known = {(row.phase, row.event) for row in rows}
    lines = [
        f"| `{event}` | {' | '.join('●' if (it, event) in known else '·' for it in phases)} |"
        for event in events
    ]
    head = f"| event | {' | '.join(phases)} |"
    return "\n".join([head, f"| --- | {' | '.join(':-:' for _ in phases)} |", *lines])


# --- laws that speak of something else: what the code does ------------------------------------


def _listing(*lines: str) -> str:
    return "\n".join(["``` { .text .no-copy }", *lines, "```"])


def _same_bytes() -> str:
    """Law 1: one event, decided three times."""
    program = sf.Program(models=("any/model",))
    state = begin(program, "Hello", run="run", seed=0, at=0).state
    event = ModelReplied(ModelCallKey(0, 0), reply("Hi"), 1, started=0)
    stored = decode(encode(state), type(state)).unwrap(), decode(encode(event), Event).unwrap()
    tried: Sequence[tuple[str, Transition]] = (
        ("step(program, state, event)", step(program, state, event)),
        ("once more", step(program, state, event)),
        ("from what was stored", step(program, *stored)),
    )
    return _listing(
        *(
            f"{name:<28} ─▶  {hashlib.sha256(encode(transition)).hexdigest()[:16]}…"
            for name, transition in tried
        )
    )


@frozen
class _Layer:
    """A model that tells its place."""

    name: str
    inner: sf.LanguageModel

    @property
    def model_id(self) -> str:
        return f"{self.name}( {self.inner.model_id} )"


def _layers() -> str:
    """Law 11: how models lie within each other."""

    def layer(name: str) -> sf.Middleware:
        return lambda inner: cast("sf.LanguageModel", _Layer(name, inner))

    a, b, c = map(layer, "abc")
    composed = {
        "compose()": sf.compose(),
        "compose(a, b, c)": sf.compose(a, b, c),
        "compose(compose(a, b), c)": sf.compose(sf.compose(a, b), c),
        "compose(a, compose(b, c))": sf.compose(a, sf.compose(b, c)),
    }
    model = ScriptedModel([])
    return _listing(*(f"{name:<26} ─▶  {made(model).model_id}" for name, made in composed.items()))


def _document() -> str:
    """Law 12: a value, its bytes, and the value again."""
    value = sf.Stop("enough", sf.JsonText('{"a":1.0}'))
    written = encode(value)
    tampered = written.replace(b'"name":"enough"', b'"name":7')
    match decode(tampered, sf.Stop):
        case Success():
            told = "read"
        case failed:
            told = f"Failure at {failed.failure().path}: {failed.failure().message}"
    return _listing(
        f"{value!r}",
        "   │ encode",
        "   ▼",
        written.decode(),
        "   │ decode",
        "   ▼",
        f"{decode(written, sf.Stop).unwrap()!r}",
        "",
        tampered.decode(),
        "   │ decode",
        "   ▼",
        told,
    )


def _agreement() -> str:
    """Law 16: what a schema says of a value, and what the decoder does with it."""

    @sf.tool
    def order(item: str, count: int = 1) -> str:
        """Order something."""
        return item

    schema = json.loads(order.spec.definition.input_schema.text)
    values: Sequence[object] = (
        {"item": "tea"},
        {"item": "tea", "count": 2},
        {"item": "tea", "count": "2"},
        {"item": "tea", "count": 2.0},
        {"item": "tea", "count": True},
        {"count": 2},
        {"item": "tea", "size": 3},
        ["tea"],
    )
    checker = jsonschema.Draft202012Validator(schema)
    lines = [
        f"| `{json.dumps(value)}` | {_mark(checker.is_valid(value))} "
        f"| {_mark(not order.spec.check(value))} |"
        for value in values
    ]
    return "\n".join(["| arguments | schema | decoder |", "| --- | :-: | :-: |", *lines])


def _mark(holds: bool) -> str:  # noqa: FBT001 - what is marked
    return "✓" if holds else "✗"


def _pipelines() -> str:
    """Law 17: brackets and units leave no trace."""

    @sf.stage
    def read(text: str) -> list[str]:
        return text.split()

    @sf.stage
    def count(words: list[str]) -> int:
        return len(words)

    @sf.stage
    def show(number: int) -> str:
        return str(number)

    left, right = (read >> count) >> show, read >> (count >> show)
    unit: sf.Stage[str, str, object] = cast("sf.Stage[str, str, object]", sf.identity())
    return _listing(
        "(read >> count) >> show".ljust(28) + "read >> (count >> show)",
        *(
            f"{one:<28}{other}"
            for one, other in zip(left.tree().splitlines(), right.tree().splitlines(), strict=True)
        ),
        "",
        f"equal: {left == right}, with identity() before: {unit >> left == left}",
    )


def _streams() -> str:
    """Law 18: a text that is cut otherwise is shown alike."""
    text = "Hello you two."
    lines: list[str] = []
    for size in (1, 4, len(text)):
        take = sf.smooth_stream(delay=None)(StreamControl(CancelHandle()))
        pieces = [text[place : place + size] for place in range(0, len(text), size)]
        parts: list[sf.RunPart] = [
            TextStart("t"),
            *(TextDelta("t", piece) for piece in pieces),
            TextEnd("t"),
        ]
        shown = [out.delta for part in parts for out in take(part) if isinstance(out, TextDelta)]
        lines.append(f"{'|'.join(pieces):<30} ─▶  {'|'.join(shown)}")
    return _listing(*lines)


RUN: Mapping[int, Callable[[], str]] = {
    1: _same_bytes,
    2: _owed,
    3: _grid,
    11: _layers,
    12: _document,
    15: _interrupted,
    16: _agreement,
    17: _pipelines,
    18: _streams,
}


def drawing_of(law: int) -> str:
    """What is drawn for a law, in Markdown."""
    if law in RUN:
        return RUN[law]()
    if law not in PARTS:
        msg = f"law {law}: there is no such law to draw"
        raise ValueError(msg)
    return _phases(law)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the drawings where a page asks for them."""
    return re.sub(r"<!-- law: (\d+) -->", lambda found: drawing_of(int(found.group(1))), markdown)
