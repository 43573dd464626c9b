"""Draw the phases of a run from the table of transitions that `stepfold/loop/_step.py` opens with.

A hook of mkdocs: `<!-- phases: diagram -->` and `<!-- phases: table -->` on a page become what they
name. The table is the only source: a phase or a transition that is new there is new here, and one
that has no place in the drawing stops the build.
"""

import ast
import re
from collections.abc import Collection
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

STEP = Path(__file__).parents[2] / "src" / "stepfold" / "loop" / "_step.py"

WIDTH, HEIGHT = 940, 470
BOX = (116, 40)
END = "Done"
END_TOP = 410

# Where each phase stands: its centre.
PLACES = {
    "Preparing": (90, 200),
    "Calling": (320, 200),
    "Working": (590, 200),
    "Checking": (850, 200),
    "Waiting": (205, 310),
    "Concluding": (440, 350),
    "Resting": (720, 310),
}

# What a transition passes on its way, as the two handles of a curve. Where there is none, the way
# is straight. The ends are moved apart by the third figure, so that ways there and back differ.
WAYS = {
    ("Preparing", "Calling"): None,
    ("Calling", "Working"): None,
    ("Working", "Checking"): None,
    ("Calling", "Preparing"): ((280, 135), (125, 135)),
    ("Working", "Calling"): ((550, 135), (342, 135)),
    ("Checking", "Calling"): ((825, 30), (320, 30)),
    ("Calling", "Checking"): ((367, 75), (805, 75)),
    ("Working", "Preparing"): ((590, 45), (105, 55)),
    ("Checking", "Preparing"): ((850, -55), (75, -55)),
    ("Calling", "Waiting"): ((285, 260), (205, 240)),
    ("Waiting", "Calling"): ((310, 310), (308, 290)),
    ("Working", "Resting"): ((615, 265), (715, 245)),
    ("Resting", "Working"): ((700, 262), (638, 262)),
    ("Resting", "Checking"): ((800, 310), (850, 290)),
    ("Resting", "Calling"): ((560, 375), (345, 350)),
    ("Calling", "Resting"): ((367, 290), (560, 310)),
    ("Resting", "Preparing"): ((560, 400), (60, 420)),
    ("Calling", "Concluding"): ((335, 270), (420, 270)),
    ("Concluding", "Calling"): ((400, 290), (325, 290)),
    ("Concluding", "Preparing"): ((400, 392), (95, 392)),
    ("Concluding", "Checking"): ((480, 392), (880, 392)),
    ("Checking", "Concluding"): ((860, 380), (460, 380)),
}


class Row(NamedTuple):
    """One line of the table."""

    phase: str
    owes: str
    event: str
    leads_to: tuple[str, ...]


def transitions(source: str | None = None) -> tuple[Row, ...]:
    """Read the table out of the docstring of the module of `step`."""
    text = STEP.read_text("utf-8") if source is None else source
    lines = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    rules = [number for number, line in enumerate(lines) if re.fullmatch(r"\s*-[- ]+", line)]
    if not rules:
        msg = f"{STEP.name}: expected a table of transitions in the docstring, got none"
        raise ValueError(msg)
    columns = [match.start() for match in re.finditer("-+", lines[rules[0]])]
    rows: list[list[str]] = []
    for line in lines[rules[0] + 1 :]:
        if not line.strip():
            break
        edges = zip(columns, [*columns[1:], None], strict=True)
        cells = [line[start:end].strip() for start, end in edges]
        if cells[0]:
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {more}".strip() for old, more in zip(rows[-1], cells, strict=True)]
    return tuple(Row(row[0], row[1], row[2], tuple(row[3].split())) for row in rows)


def edges_of(rows: tuple[Row, ...]) -> dict[tuple[str, str], list[str]]:
    """Pairs of phases, and the events that lead from one to the other, in the table's order."""
    edges: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for target in row.leads_to:
            events = edges.setdefault((row.phase, target), [])
            if row.event not in events:
                events.append(row.event)
    return edges


# --- the drawing ------------------------------------------------------------------------------

_ARROW = (
    '<defs><marker id="phase-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>'
)


def diagram(rows: tuple[Row, ...], *, only: Collection[tuple[str, str]] | None = None) -> str:
    """The phases as an SVG, in the colours of the page around it.

    With `only`, all but these transitions are drawn faintly, and so are phases that have none.
    """
    edges = edges_of(rows)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="The phases of a run">',
        _ARROW,
        (
            f'<g class="end{_faint(only is not None and not _ends(only))}">'
            f'<rect class="end" x="20" y="{END_TOP}" width="{WIDTH - 40}" height="40" rx="6"/>'
            f'<text x="{WIDTH / 2}" y="{END_TOP + 25}">{END}</text></g>'
        ),
    ]
    ways = [(pair, events) for pair, events in edges.items() if pair[0] != pair[1]]
    for pair, events in sorted(ways, key=lambda way: only is not None and way[0] in only):
        parts.append(_way(pair, events, is_faint=only is not None and pair not in only))
    shown = None if only is None else {phase for pair in only for phase in pair}
    for phase in dict.fromkeys(row.phase for row in rows):
        stays = edges.get((phase, phase), [])
        if only is not None and (phase, phase) not in only:
            stays = []
        parts.append(_box(phase, stays=stays, is_faint=shown is not None and phase not in shown))
    return "".join([*parts, "</svg>"])


def _ends(pairs: Collection[tuple[str, str]]) -> bool:
    return any(target == END for _, target in pairs)


def _place(phase: str) -> tuple[int, int]:
    if phase not in PLACES:
        msg = f"the phase {phase!r} has no place in the drawing: give it one in {__file__}"
        raise ValueError(msg)
    return PLACES[phase]


def _box(phase: str, *, stays: list[str], is_faint: bool) -> str:
    x, y = _place(phase)
    width, height = BOX
    name = f"{phase} ↻" if stays else phase
    title = f"<title>stays {phase}: {', '.join(stays)}</title>" if stays else ""
    return (
        f'<g class="{phase.lower()}{_faint(is_faint)}">{title}'
        f'<rect x="{x - width / 2}" y="{y - height / 2}" '
        f'width="{width}" height="{height}" rx="6"/><text x="{x}" y="{y + 5}">{name}</text></g>'
    )


def _faint(is_faint: bool) -> str:  # noqa: FBT001 - it is what the name says
    return " faint" if is_faint else ""


def _way(pair: tuple[str, str], events: list[str], *, is_faint: bool) -> str:
    source, target = pair
    x, y = _place(source)
    title = f"<title>{source} → {target}: {', '.join(events)}</title>"
    if target == END:
        path = f"M{x} {y + BOX[1] / 2}V{END_TOP - 2}"
        return f'<path class="{source.lower()} ending{_faint(is_faint)}" d="{path}">{title}</path>'
    if pair not in WAYS:
        msg = f"the transition {source} → {target} has no way in the drawing: give it one"
        raise ValueError(msg)
    handles = WAYS[pair]
    end = _place(target)
    if handles is None:
        start_x, end_x = x + BOX[0] / 2, end[0] - BOX[0] / 2 - 2
        path = f"M{start_x} {y}H{end_x}"
    else:
        first, second = handles
        points = (_border((x, y), first), first, second, _border(end, second))
        leaves, *rest = (f"{across:g} {down:g}" for across, down in points)
        path = f"M{leaves}C{' '.join(rest)}"
    return f'<path class="{source.lower()}{_faint(is_faint)}" d="{path}">{title}</path>'


def _border(centre: tuple[int, int], towards: tuple[int, int]) -> tuple[float, float]:
    """Where the way to a point leaves a box: on top or below, or at the side if it is level."""
    width, height = BOX
    x, y = centre
    across = max(-width / 2 + 10, min(width / 2 - 10, float(towards[0] - x)))
    if abs(towards[1] - y) <= height / 2:
        return (x + (width / 2 if towards[0] > x else -width / 2), y)
    return (x + across, y + (height / 2 if towards[1] > y else -height / 2))


# --- the table --------------------------------------------------------------------------------


def table(rows: tuple[Row, ...]) -> str:
    """The same as a table in Markdown; rows of one phase that lead to the same are one."""
    lines = ["| phase | owes | event | leads to |", "| --- | --- | --- | --- |"]
    for key, group in groupby(rows, lambda row: (row.phase, row.owes, row.leads_to)):
        phase, owes, leads_to = key
        owed = owes if owes.startswith("(") else " ".join(f"`{name}`" for name in owes.split())
        events = " ".join(f"`{row.event}`" for row in group)
        lines.append(f"| **{phase}** | {owed.strip('()')} | {events} | {', '.join(leads_to)} |")
    return "\n".join(lines)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the drawing and the table where a page asks for them."""
    if "<!-- phases:" not in markdown:
        return markdown
    rows = transitions()
    drawn = f'<figure class="phases">{diagram(rows)}</figure>'
    return markdown.replace("<!-- phases: diagram -->", drawn).replace(
        "<!-- phases: table -->", table(rows)
    )
