"""The terminal: text that streams, lines between it, and a spinner while nothing comes.

What models and tools say is never trusted: it reaches the terminal without control characters.
"""

import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Final, final

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text as Styled
from typing_extensions import override

_WIDTH_OF_PIPES: Final = 160
_LONGEST_SHOWN: Final = 2_000
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_JOINER: Final = "\u200d"  # emoji are made with it


@final
class OutputClosed(Exception):
    """Whoever read what is printed does so no more."""


@final
class _Console(Console):
    @override
    def on_broken_pipe(self) -> None:
        raise OutputClosed from None


@final
class Screen:
    """Shows a run on standard output, and what went wrong on standard error."""

    def __init__(self) -> None:
        # A pipe has no width of its own, and nothing is gained by cutting tables for it.
        width = None if sys.stdout.isatty() else _WIDTH_OF_PIPES
        self.out: Final[Console] = _Console(
            file=sys.stdout, highlight=False, emoji=False, width=width
        )
        self.errors: Final[Console] = _Console(file=sys.stderr, highlight=False, emoji=False)
        self._midline = False
        self._status: Status | None = None

    def busy(self, doing: str) -> None:
        """Say what is waited for until something is shown; only in a terminal."""
        told = Styled(f"{doing} …", style="dim")
        if self._status is not None:
            self._status.update(told)
        elif self.out.is_terminal and self.errors.is_terminal:
            self.end_line()
            self._status = self.errors.status(told, spinner="dots")
            self._status.start()

    def idle(self) -> None:
        """Stop the spinner."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def stream(self, text: str, style: str = "") -> None:
        """Show more of a text, on the line where it stands."""
        self.idle()
        if text:
            shown = printable(text)
            self.out.print(Styled(shown, style=style), end="", soft_wrap=True)
            self.out.file.flush()
            self._midline = not shown.endswith("\n")

    def line(self, *pieces: str | tuple[str, str], hang: int = 0) -> None:
        """Show a line of its own; pieces are texts, or texts with a style.

        A text of more than one line goes on `hang` columns to the right.
        """
        self.idle()
        self.end_line()
        shown = Styled()
        for piece in pieces:
            text, style = (piece, "") if isinstance(piece, str) else piece
            shown.append(printable(text).replace("\n", "\n" + " " * hang), style=style)
        self.out.print(shown, soft_wrap=True)

    def item(self, label: str | tuple[str, str], text: str, *, indent: int) -> None:
        """Show a label, and a text that begins `indent` columns in; a terminal folds it there."""
        name, style = (label, "") if isinstance(label, str) else label
        folded = [text]
        if self.out.is_terminal and self.out.width > 2 * indent:
            folded = textwrap.wrap(
                text,
                self.out.width - indent,
                replace_whitespace=False,
                drop_whitespace=False,
                expand_tabs=False,
                break_on_hyphens=False,
            )
        gap = " " * (indent - 2 - len(name))
        self.line("  ", (name, style), gap, "\n".join(folded), hang=indent)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], *, total: bool) -> None:
        """Show rows under heads; figures (all but the first three columns) to the right."""
        self.idle()
        self.end_line()
        table = Table(box=None, header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
        for place, name in enumerate(head):
            table.add_column(
                name,
                justify="left" if place < 3 else "right",
                no_wrap=place not in {1, 2},
                overflow="fold",
            )
        for place, row in enumerate(rows):
            last = total and place == len(rows) - 1
            table.add_row(*(Styled(printable(cell)) for cell in row), style="bold" if last else "")
        self.out.print(table)

    def complain(self, text: str) -> None:
        """Say on standard error what is wrong."""
        self.idle()
        self.end_line()
        self.errors.print(Styled.assemble(("error: ", "bold red"), printable(text)), soft_wrap=True)

    def end_line(self) -> None:
        """Let what comes begin on a line of its own."""
        if self._midline:
            self._midline = False
            self.out.print()


def printable(text: str) -> str:
    """Text that a terminal shows as it is: what would steer it is written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        one
        if one in "\n\t" or one == _JOINER or unicodedata.category(one) not in _HIDDEN
        else f"\\u{ord(one):04x}"
        for one in text.replace("\r\n", "\n")
    )


def shortened(text: str, longest: int = _LONGEST_SHOWN) -> str:
    """The beginning of a text, with a word on how much more there is."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters)"
