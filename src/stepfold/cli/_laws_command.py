"""The options of `stepfold laws`; what it does is in `_laws`."""

from typing import Annotated, Final

import typer

from stepfold.cli._exit import exit_after

LAWS_EXIT_CODES: Final = (
    "Exit codes: 0 every law holds as far as it was tried, 1 a law is broken, 2 wrong usage."
)


def laws(
    *,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE:NAME...",
            help="Tools, stages, stop conditions, middleware or stream transforms of your own.",
        ),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="What they are, where neither class nor annotations tell: tool, stage, "
            "condition, middleware or transform.",
        ),
    ] = None,
    execute: Annotated[
        bool,
        typer.Option(
            "--execute",
            help="Run tools and stages, on what is drawn from schemas and annotations.",
        ),
    ] = False,
    given: Annotated[
        str | None,
        typer.Option(
            "--given",
            metavar="MODULE:NAME",
            help="What stages are run on besides: a value, a list of values, or a strategy.",
        ),
    ] = None,
    examples: Annotated[
        int | None, typer.Option(min=0, help="How much is drawn to try the laws on.")
    ] = None,
    trio: Annotated[
        bool, typer.Option("--trio", help="Run async tools and stages on trio as well.")
    ] = False,
    kept: Annotated[
        bool, typer.Option("--kept", help="Of stages that are kept in a journal: ask for forms.")
    ] = False,
    world: Annotated[
        bool,
        typer.Option(
            "--world",
            help="Of stages that ask a model or the world: do not ask that one input has one "
            "outcome.",
        ),
    ] = False,
    window: Annotated[
        bool,
        typer.Option(
            "--window",
            help="Of stop conditions that look at the last steps alone: do not ask that what stops "
            "a run stops every longer one.",
        ),
    ] = False,
    transparent: Annotated[
        bool, typer.Option("--transparent", help="Of middleware: ask that it can be left out.")
    ] = False,
    lossless: Annotated[
        bool, typer.Option("--lossless", help="Of transforms: ask that all is shown that came.")
    ] = False,
) -> None:
    """Try the laws on what you add to stepfold, and show the smallest case that breaks one.

    Each law is told in a line of its own: held, broken, or not tried, and what to say to have it
    tried. No network model is asked, and no tool or stage is run unless --execute says so.
    """
    from stepfold.cli._laws import Trying, try_laws

    trying = Trying(
        kind=kind,
        execute=execute,
        given=given,
        examples=examples,
        trio=trio,
        kept=kept,
        world=world,
        window=window,
        transparent=transparent,
        lossless=lossless,
    )
    exit_after(lambda screen: try_laws(targets, screen, trying))
