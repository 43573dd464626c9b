"""Reads what a docstring says to the model: the description, and words about each parameter.

Google sections (`Args:`, `Attributes:`), numpy's underlined ones and Sphinx fields (`:param x:`)
are understood. The description is what stands before the first section; sections about results
and errors are for people and are left out.
"""

import inspect
import re
from typing import final

from attrs import frozen

_NAMED = (
    "args",
    "arguments",
    "parameters",
    "params",
    "attributes",
    "keyword args",
    "other parameters",
)
_OTHER = (
    "example", "examples", "note", "notes", "raises", "references", "return", "returns", "see also",
    "todo", "warning", "warnings", "warns", "yield", "yields",
)  # fmt: skip
_google = re.compile(r"(?P<title>[A-Z][A-Za-z ]*):\s*$")
_entry = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)$", re.DOTALL)
_numpy_entry = re.compile(r"(?P<names>\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")
_sphinx = re.compile(r":(?P<kind>\w+)(?:\s+[^:]*?)?(?:\s*(?P<name>\w+))?\s*:\s*(?P<text>.*)$")


@final
@frozen(order=False)
class Documentation:
    """A docstring taken apart; `of` tells the words about one parameter or attribute."""

    description: str
    entries: tuple[tuple[str, str], ...]

    def of(self, name: str) -> str:
        """The words about one name, or none."""
        return dict(self.entries).get(name, "")


def documentation_of(docstring: str | None) -> Documentation:
    """Take a docstring apart; total: what is not understood is description."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    description: list[str] = []
    entries: dict[str, str] = {}
    index = 0
    while index < len(lines):
        title, start = _section_at(lines, index)
        if title is not None:
            end = _end_of_section(lines, start, is_numpy=start == index + 2)
            if title in _NAMED:
                read = _numpy_entries if start == index + 2 else _google_entries
                entries.update(read(lines[start:end]))
            index = end
        elif (field := _sphinx.match(lines[index])) is not None:
            end = index + 1
            while end < len(lines) and lines[end].startswith((" ", "\t")):
                end += 1
            if (
                field["kind"] in ("param", "parameter", "arg", "argument", "key", "ivar")
                and field["name"]
            ):
                entries[field["name"]] = _joined([field["text"], *lines[index + 1 : end]])
            index = end
        else:
            description.append(lines[index])
            index += 1
    return Documentation("\n".join(description).strip(), tuple(entries.items()))


def _section_at(lines: list[str], index: int) -> tuple[str | None, int]:
    """The title of the section that begins here, and where its text begins."""
    line = lines[index]
    after = lines[index + 1] if index + 1 < len(lines) else ""
    if after and set(after) == {"-"} and line.lower() in _NAMED + _OTHER:
        return line.lower(), index + 2
    match = _google.match(line)
    if match is not None and match["title"].lower() in _NAMED + _OTHER:
        return match["title"].lower(), index + 1
    return None, index


def _end_of_section(lines: list[str], start: int, *, is_numpy: bool) -> int:
    end = start
    while end < len(lines) and _section_at(lines, end)[0] is None:
        is_text = bool(lines[end]) and not lines[end][0].isspace()
        if is_text and not is_numpy:
            break
        end += 1
    return end


def _google_entries(lines: list[str]) -> dict[str, str]:
    body = inspect.cleandoc("\n" + "\n".join(lines)).splitlines()
    entries: dict[str, str] = {}
    for block in _blocks(body):
        match = _entry.match(block[0])
        if match is not None:
            entries[match["name"]] = _joined([match["text"], *block[1:]])
    return entries


def _numpy_entries(lines: list[str]) -> dict[str, str]:
    entries: dict[str, str] = {}
    for block in _blocks(lines):
        match = _numpy_entry.match(block[0])
        if match is not None:
            for name in re.split(r"\s*,\s*", match["names"]):
                entries[name] = _joined(block[1:])
    return entries


def _blocks(lines: list[str]) -> list[list[str]]:
    """Lines without indentation, each with the indented ones that follow it."""
    blocks: list[list[str]] = []
    for line in lines:
        if line and not line[0].isspace():
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    return blocks


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
