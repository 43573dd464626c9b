"""The examples on the pages: fenced blocks, run in order, each page in a module of its own.

A block of `python` runs; if a block of `text` follows it at once, that is what it has to print
(`...` stands for anything). A block of `pycon` is a session: what each line shows is checked.
"""

import doctest
import io
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

from attrs import frozen

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)

_FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
_FLAGS = doctest.ELLIPSIS


@frozen
class Example:
    """A fenced block that runs; `line` is that of its first line of code, counted from 1."""

    line: int
    language: str
    code: str
    shown: str | None = None


def name_of(page: Path) -> str:
    """What a page is called in reports, and as a module."""
    return page.relative_to(ROOT).with_suffix("").as_posix()


def examples_on(page: Path) -> tuple[Example, ...]:
    """All that runs on a page, in order."""
    return tuple(examples_in(page.read_text("utf-8")))


def examples_in(text: str) -> Iterator[Example]:
    """All that runs in a text of Markdown, in order."""
    blocks = list(_FENCE.finditer(text))
    for block, after in zip(blocks, [*blocks[1:], None], strict=False):
        language = block["language"]
        if language not in {"python", "pycon"}:
            continue
        shown = None
        if after is not None and after["language"] == "text":
            between = text[block.end() : after.start()]
            shown = None if between.strip() else after["code"]
        line = text.count("\n", 0, block.start("code")) + 1
        yield Example(line, language, block["code"], shown)


def run_page(page: Path) -> None:
    """Run a page from top to bottom; raises what an example raises, with the line of the page."""
    module = ModuleType(re.sub(r"\W", "_", name_of(page)))
    sys.modules[module.__name__] = module  # where types that refer to each other are looked up
    try:
        for example in examples_on(page):
            run_example(example, module.__dict__, page)
    finally:
        del sys.modules[module.__name__]


def run_example(example: Example, names: dict[str, object], page: Path) -> None:
    """Run one block, and compare what it shows."""
    if example.language == "pycon":
        _run_session(example, names, page)
        return
    source = "\n" * (example.line - 1) + example.code
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(source, page, "exec"), names)
    if example.shown is None:
        return
    checker = doctest.OutputChecker()
    got = printed.getvalue().rstrip("\n") + "\n"  # a last line need not end
    if not checker.check_output(example.shown, got, _FLAGS):
        wanted = doctest.Example(example.code, example.shown)
        differs = checker.output_difference(wanted, got, _FLAGS | doctest.REPORT_NDIFF)
        raise AssertionError(f"{name_of(page)}.md, line {example.line}:\n{differs}")


def _run_session(example: Example, names: dict[str, object], page: Path) -> None:
    parser = doctest.DocTestParser()
    session = parser.get_doctest(example.code, {}, name_of(page), str(page), example.line - 1)
    session.globs = names  # shared with the rest of the page
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=_FLAGS)
    runner.run(session, out=report.write, clear_globs=False)
    assert not runner.failures, report.getvalue()


def source_of(page: Path) -> str:
    """The code of a page as one module, each line where the page has it, for type checkers.

    Sessions are left out: nobody narrows a union at a prompt.
    """
    lines: dict[int, str] = {}
    for example in examples_on(page):
        if example.language == "python":
            lines |= dict(enumerate(example.code.splitlines(), example.line))
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1)) + "\n"
