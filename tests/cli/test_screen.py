import io
import sys

import pytest
from typing_extensions import override

from stepfold.cli._screen import Screen, printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("naïve 漢字 👩\u200d🚀", "naïve 漢字 👩\u200d🚀"),
        ("\x1b]0;title\x07", "\\u001b]0;title\\u0007"),
        ("a\r\nb\rc", "a\nb\\u000dc"),
        ("\u202egpj.exe\u2066", "\\u202egpj.exe\\u2066"),
        ("\x9b31m", "\\u009b31m"),
        ("\ud800", "\\ud800"),
    ],
)
def test_nothing_that_steers_a_terminal_is_printed(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_long_text_is_cut_and_says_so() -> None:
    assert shortened("short") == "short"
    assert shortened("x" * 2_500, 1_000) == "x" * 1_000 + "… (1,500 more characters)"


def test_markup_in_a_text_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    screen.stream("[bold]not[/bold] :smile:")
    screen.line("[red]", ("x", "bold"))
    screen.complain("[link]")

    out, err = capsys.readouterr()
    assert out == "[bold]not[/bold] :smile:\n[red]x\n"
    assert err == "error: [link]\n"


def test_a_long_line_is_left_to_the_terminal_to_wrap(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    for _ in range(100):
        screen.stream("word " * 3)
    screen.line("x" * 1_000)

    assert capsys.readouterr().out == "word " * 300 + "\n" + "x" * 1_000 + "\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_an_item_is_folded_where_it_begins_and_only_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool
) -> None:
    out = _Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    Screen().item(("held", "green"), "one  two three", indent=9)

    if is_terminal:
        assert "   one  two \n         three\n" in out.getvalue()
    else:
        assert out.getvalue() == "  held   one  two three\n"


class _Terminal(io.StringIO):
    @override
    def isatty(self) -> bool:
        return True


def test_a_spinner_turns_only_in_a_terminal_and_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, errors = _Terminal(), _Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", errors)
    screen = Screen()
    screen.stream("so far")
    screen.busy("thinking")
    screen.stream("more")

    assert "thinking …" in errors.getvalue()
    assert out.getvalue() == "so far\nmore"


def test_a_pipe_gets_no_spinner(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().busy("thinking")

    assert capsys.readouterr() == ("", "")
