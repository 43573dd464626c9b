"""`stepfold explore`: everything that can become of a run of somebody's agent."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from stepfold.agent import Agent
from stepfold.cli._named import kind_of, object_named
from stepfold.cli._screen import Screen
from stepfold.loop import Program
from stepfold.testing.exploration import Exploration, Law, alphabet_of, explore
from stepfold.values import UsageError

_EXAMPLE: Final = "my_agents:agent"
_NOT_EXHAUSTIVE: Final = 3


def explore_named(
    target: str,
    screen: Screen,
    *,
    calls: int,
    steps: int,
    laws: Sequence[str],
    max_states: int,
    max_seconds: float,
    graph: str | None,
) -> int:
    """Explore the program that a name stands for, say what was seen, and give the exit code.

    Raises:
        UsageError: a name leads nowhere or to something else, there are no arguments for a tool,
            or the graph cannot be written.
        OutputClosed: nobody reads what is written any more.
    """
    program = _program_named(target)
    own = [_law_named(law) for law in laws]
    alphabet = alphabet_of(program, calls=calls, steps=steps)
    try:
        explored = explore(
            program,
            alphabet=alphabet,
            laws=own,
            max_states=max_states,
            max_seconds=max_seconds,
            on_progress=lambda seen, waiting: _tell(screen, seen, waiting),
        )
    finally:
        screen.idle()
    if graph is not None:
        _write(graph, explored.mermaid())
    return _show(explored, screen)


def _tell(screen: Screen, seen: int, waiting: int) -> None:
    if seen % 50 == 0:
        screen.busy(f"{seen:,} states seen, {waiting:,} to go on from")


def _show(explored: Exploration, screen: Screen) -> int:
    if explored.violation is not None:
        screen.complain(str(explored.violation))
        return 1
    screen.line(("lawful", "bold green"), f": {explored}")
    if explored.is_exhaustive:
        return 0
    screen.line(
        "What lies beyond the bound was not seen: raise it, or lower --calls and --steps.",
    )
    return _NOT_EXHAUSTIVE


def _program_named(target: str) -> Program:
    found = object_named(target, option="explore", example=_EXAMPLE)
    if isinstance(found, Program):
        return found
    if isinstance(found, Agent):
        return found.program
    msg = f"explore {target}: expected an Agent or a Program, got {kind_of(found)}"
    raise UsageError(msg)


def _law_named(reference: str) -> Law:
    found = object_named(reference, option="--law", example="my_laws:never_pays_twice")
    if isinstance(found, type) or not callable(found):
        msg = f"--law {reference}: expected a function of a Trace, got {kind_of(found)}"
        raise UsageError(msg)
    return cast("Law", found)  # as far as what has a name can be checked


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        msg = f"cannot write {path}: {error.strerror or error}"
        raise UsageError(msg) from error
