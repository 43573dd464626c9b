"""Pages that say what holds name the test that shows it, and names that are there.

In their tables the last column is the name of a test, in words: *a truncated reply never runs a
tool* is `test_a_truncated_reply_never_runs_a_tool`. What a link in code is called is what it leads
to: a public name, an option of it (`retry=`) or an attribute of it (`.usage`).
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

import attrs
import pytest
from typing_extensions import is_typeddict

ROOT = Path(__file__).parents[2]
MAP = ROOT / "docs/reference/ai-sdk-map.md"
FAULTS = ROOT / "docs/explanation/reported-faults.md"

_TEST = re.compile(r"^ *(?:async )?def test_(?:\d+_)*([a-z]\w*)\(", re.MULTILINE)
_LINK = re.compile(r"\[`([^`]+)`\]\[(stepfold[\w.]*)\]")
_CLAIM = re.compile(r"(?<!\*)\*([^*|]+)\*(?!\*)")
# What a row says that has no test to name.
_NOT_HERE = re.compile(r"\bnot here\b|\bcannot arise\b")


def names_below(*folders: str) -> set[str]:
    """The names of tests in words, without the numbers that some begin with."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("test_*.py")]
    found = (_TEST.findall(file.read_text("utf-8")) for file in files)
    return {name.replace("_", " ") for names in found for name in names}


def rows_of(page: Path) -> list[str]:
    """The rows of all tables of a page, without their heads."""
    lines = [line for line in page.read_text("utf-8").splitlines() if line.startswith("|")]
    heads = {place - 1 for place, line in enumerate(lines) if line.startswith("| ---")}
    return [
        line
        for place, line in enumerate(lines)
        if place not in heads and not line.startswith("| ---")
    ]


def resolved(path: str) -> object:
    """What a dotted path leads to; the longest part of it that is a module is imported."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise AssertionError(path)


def options_of(target: object) -> set[str]:
    """What may be given by keyword: to a function, a class, or as options of a call."""
    if is_typeddict(target):
        return set(target.__annotations__)
    signature = inspect.signature(target)  # type: ignore[arg-type]  # what is no function raises
    options = set(signature.parameters)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            options |= options_of(parameter.annotation.__args__[0])
    return options


def attributes_of(target: object) -> set[str]:
    """What an object of a class has: its members, and the fields that slots hide."""
    fields = (
        {field.name for field in attrs.fields(target)}
        if inspect.isclass(target) and attrs.has(target)
        else set()
    )
    return fields | set(dir(target))


@pytest.mark.parametrize("page", [MAP, FAULTS], ids=lambda page: page.stem)
def test_each_row_names_a_test_that_is_there_or_says_why_there_is_none(page: Path) -> None:
    rows = rows_of(page)
    claims = {row: _CLAIM.findall(row) for row in rows}

    assert rows
    assert not [row for row in rows if not claims[row] and not _NOT_HERE.search(row)]
    assert not {claim for found in claims.values() for claim in found} - names_below(
        "tests", "properties"
    )


def test_each_fault_has_its_row_and_each_regression_is_told() -> None:
    rows = rows_of(FAULTS)
    numbers = [int(row.split("|")[1]) for row in rows]
    told = {claim for row in rows for claim in _CLAIM.findall(row)}

    assert numbers == [*range(1, 32), *range(1, 46)]
    assert not names_below("tests/regressions") - told


@pytest.mark.parametrize("page", [MAP, FAULTS], ids=lambda page: page.stem)
def test_each_name_leads_to_what_it_says(page: Path) -> None:
    for name, path in _LINK.findall(page.read_text("utf-8")):
        target = resolved(path)
        if name.endswith("="):
            assert name[:-1] in options_of(target), f"{path} has no option {name}"
        elif name.startswith("."):
            assert name[1:] in attributes_of(target), f"{path} has no {name}"
        else:
            assert path.rpartition(".")[2] == name, f"{name} leads to {path}"
