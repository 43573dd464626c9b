"""The reference leaves no public name out, and what is drawn is what the source says."""

import re
from importlib import import_module
from typing import get_args

import griffe
import pytest
import typer
from typer.core import TyperGroup, TyperOption

import stepfold
from docs.hooks.attrs_signatures import AttrsSignatures
from docs.hooks.laws import PARTS, drawing_of, part_of
from docs.hooks.laws import on_page_markdown as draw_laws
from docs.hooks.phases import PLACES, diagram, edges_of, on_page_markdown, table, transitions
from stepfold.cli._app import app
from stepfold.loop import Phase
from stepfold.loop.events import Event
from stepfold.testing import laws
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
# A class of another library is told in words.
IN_WORDS = {"Success", "Failure"}
MODULES = {"commands", "events", "notes"}


def documented() -> set[str]:
    """The names that the pages ask for, by themselves or with their whole module."""
    names: set[str] = set()
    for page in REFERENCE.glob("*.md"):
        for path in re.findall(r"^::: (stepfold\S*)", page.read_text("utf-8"), re.MULTILINE):
            try:
                module = import_module(path)
            except ModuleNotFoundError:
                names.add(path.rpartition(".")[2])
            else:
                names |= {*module.__all__, path.rpartition(".")[2]}
    return names


def test_every_public_name_is_in_the_reference() -> None:
    missing = set(stepfold.__all__) - documented() - IN_WORDS

    assert not missing, f"give each a line `::: stepfold.NAME` on a page of {REFERENCE}"


# --- the phases -------------------------------------------------------------------------------


def test_the_drawing_has_every_phase_and_every_transition() -> None:
    rows = transitions()
    drawn = diagram(rows)

    assert {*PLACES, "Done"} == {kind.__name__ for kind in get_args(Phase)}
    assert {row.event for row in rows} <= {kind.__name__ for kind in get_args(Event)}
    for source, target in edges_of(rows):
        told = f"stays {source}" if source == target else f"{source} → {target}"
        assert f"<title>{told}: " in drawn


def test_the_table_on_the_page_has_every_event() -> None:
    rows = transitions()
    written = table(rows)

    assert all(f"`{row.event}`" in written for row in rows)


def test_only_a_page_that_asks_is_changed() -> None:
    assert on_page_markdown("# A page") == "# A page"
    assert "<svg" in on_page_markdown("<!-- phases: diagram -->")
    assert "| **Calling** |" in on_page_markdown("<!-- phases: table -->")


def test_a_part_of_the_drawing_is_drawn_in_full_and_the_rest_faintly() -> None:
    only = {("Calling", "Waiting"), ("Waiting", "Calling")}
    drawn = diagram(transitions(), only=only)

    clear = re.findall(r'<path class="\w+(?: ending)?" d="[^"]+"><title>(\w+ → \w+)', drawn)
    assert {tuple(way.split(" → ")) for way in clear} == only
    assert '<g class="calling">' in drawn
    assert '<g class="resting faint">' in drawn


# --- the laws ---------------------------------------------------------------------------------


@pytest.mark.parametrize("law", range(1, 20))
def test_every_law_is_explained_and_drawn(law: int) -> None:
    page = (ROOT / "docs" / "explanation" / "laws.md").read_text("utf-8")
    assert f"\n### {law}. " in page
    assert f"<!-- law: {law} -->" in page

    drawn = draw_laws(f"<!-- law: {law} -->")
    assert "<!--" not in drawn
    assert "<svg" in drawn or "| --- |" in drawn or "```" in drawn


def test_laws_about_phases_show_their_part_of_the_table() -> None:
    rows = transitions()
    for law in PARTS:
        part = part_of(law, rows)
        assert part
        for row in part:
            whole = next(it for it in rows if it[:3] == row[:3])
            assert set(row.leads_to) <= set(whole.leads_to)


def test_the_code_that_is_drawn_keeps_its_laws() -> None:
    once, again, stored = (line.split()[-1] for line in drawing_of(1).splitlines()[1:4])
    assert once == again == stored
    nested = {line.partition("─▶")[2] for line in drawing_of(11).splitlines()[2:5]}
    assert len(nested) == 1
    agreed = [line.split("|")[2:4] for line in drawing_of(16).splitlines()[2:]]
    assert all(schema.strip() == decoder.strip() for schema, decoder in agreed)
    assert "equal: True, with identity() before: True" in drawing_of(17)
    shown = {line.partition("─▶")[2] for line in drawing_of(18).splitlines()[1:4]}
    assert len(shown) == 1


def test_a_law_that_is_not_there_stops_the_build() -> None:
    with pytest.raises(ValueError, match="law 20: there is no such law"):
        draw_laws("<!-- law: 20 -->")


# --- what stops the build ---------------------------------------------------------------------


@pytest.mark.parametrize("target", ["Nowhere", "Waiting"])
def test_what_has_no_place_in_the_drawing_stops_the_build(target: str) -> None:
    head = "phase    owes  event   leads to\n    -------  ----  ------  --------"
    row = f"Nowhere  Wait  Waited  {target}"
    source = f'"""A table.\n\n    {head}\n    {row}\n"""'

    with pytest.raises(ValueError, match="Nowhere"):
        diagram(transitions(source))


def test_a_module_without_a_table_stops_the_build() -> None:
    with pytest.raises(ValueError, match="expected a table"):
        transitions('"""Nothing."""')


# --- signatures -------------------------------------------------------------------------------

VALUES = '''
from attrs import field, frozen

@frozen(order=False)
class Point:
    """A point."""

    x: int
    y: int = 0
    name: str | None = field(default=None, kw_only=True)
    _hidden: tuple[int, ...] = field(factory=tuple, alias="shown")
    count: int = field(init=False, default=0)
    LIMIT = 7

    @property
    def length(self) -> int:
        """How far."""
        return 0

@frozen(kw_only=True)
class Options:
    """Options."""

    deep: bool = False

class Plain:
    x: int
'''


def test_values_have_the_signature_that_attrs_gives_them() -> None:
    with griffe.temporary_visited_package(
        "values", {"__init__.py": VALUES}, extensions=griffe.Extensions(AttrsSignatures())
    ) as package:
        point = package["Point"].parameters
        options = package["Options"].parameters

        assert [parameter.name for parameter in point] == ["x", "y", "shown", "name"]
        assert [parameter.default for parameter in point] == [None, "0", "...", "None"]
        assert point["name"].kind is griffe.ParameterKind.keyword_only
        assert options["deep"].kind is griffe.ParameterKind.keyword_only
        assert "__init__" not in package["Plain"].members


# --- what is told in words --------------------------------------------------------------------


def test_laws_and_properties_that_are_named_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "laws.md").read_text("utf-8")
    named = set(re.findall(r"`laws\.(\w+)`", page))
    files = set(re.findall(r"`(?:properties/)?(test_\w+\.py)`", page))

    assert named
    assert named <= set(laws.__all__)
    assert files <= {path.name for path in (ROOT / "properties").glob("test_*.py")}


def test_every_command_and_option_is_on_the_page_of_the_command_line() -> None:
    page = (REFERENCE / "cli.md").read_text("utf-8")
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)

    for name, command in group.commands.items():
        assert f"`stepfold {name}" in page
        for parameter in command.params:
            if isinstance(parameter, TyperOption):
                assert all(f"`{option}" in page for option in parameter.opts), parameter.opts


def test_places_to_change_things_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    package = ROOT / "src" / "stepfold"

    for path in re.findall(r"`(\w+/_?[\w/]+\.py)`", text):
        assert (package / path).is_file() or (ROOT / path).is_file(), path
