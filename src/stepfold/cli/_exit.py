"""How a command ends: with an exit code, whatever came of what it was for."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from stepfold.cli._screen import Screen


def exit_after(task: "Callable[[Screen], int]") -> None:
    """Do what a command is for, and end with its exit code; a mistake of the user's is told."""
    from stepfold.cli._screen import OutputClosed, Screen
    from stepfold.values import UsageError

    screen = Screen()
    try:
        code = task(screen)
    except UsageError as error:
        screen.complain(str(error))
        code = 2
    except OutputClosed:
        code = 1
    raise typer.Exit(code)
