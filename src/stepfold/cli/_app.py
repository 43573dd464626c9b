"""The commands and their options; what they do is in the modules beside this one."""

from importlib.metadata import version
from typing import Annotated

import typer

from stepfold.cli._demo import CELSIUS, demo
from stepfold.cli._ending import EXIT_CODES, carried_out
from stepfold.cli._screen import Screen

app = typer.Typer(
    name="stepfold",
    help="Run language models in a tool loop whose every decision is a pure function.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands it over so
    if wanted:
        typer.echo(f"stepfold {version('stepfold')}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Nothing is done before a command is."""


@app.command("demo")
def _demo(
    *,
    celsius: Annotated[
        float, typer.Option(help="What the tool shall measure: choose a number of your own.")
    ] = CELSIUS,
    stream: Annotated[
        bool, typer.Option(help="Whether tokens are shown as they come, or replies in one piece.")
    ] = True,
) -> None:
    """Watch a small model on this machine call a tool; needs no key and no network.

    The exit code is 1 unless the tool's result is in the journal and in the model's answer.
    """
    screen = Screen()
    raise typer.Exit(carried_out(lambda: demo(screen, celsius=celsius, streams=stream), screen))
