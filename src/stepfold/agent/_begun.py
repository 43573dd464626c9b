"""The start of a run: what it is called, and how it began."""

import secrets
from collections.abc import Sequence
from typing import Generic, TypeVar, final

from attrs import evolve, frozen

from stepfold.agent._checks import json_object, require_options
from stepfold.agent._options import RunOptions
from stepfold.loop import (
    JournalHeader,
    LoopState,
    Program,
    Transition,
    begin,
    command_ids,
    standardise_prompt,
)
from stepfold.shell import CancelHandle, ChildRun, Runtime, Steering, ToolContext
from stepfold.values import EMPTY_OBJECT, Message, UsageError

D = TypeVar("D")


@final
@frozen(eq=False)
class Begun(Generic[D]):
    """A run that is about to be driven."""

    program: Program
    first: Transition
    runtime: Runtime[D]
    header: JournalHeader
    cancel: CancelHandle | None
    child: ChildRun | None
    steering: Steering | None


def begun(
    program: Program,
    prompt: str | Sequence[Message],
    runtime: Runtime[D],
    options: RunOptions,
) -> Begun[D]:
    """Begin a run; its name and seed are drawn where they are not given.

    Raises:
        UsageError: the prompt or an option is wrong; the text names it.
    """
    cancel, run_id, seed = options.get("cancel"), options.get("run_id"), options.get("seed")
    steering = options.get("steering")
    require_options(cancel, steering, run_id, seed)
    child = child_of(options.get("parent"), program)
    program = within(program, child)
    run = run_id
    if run is None:
        run = f"run-{secrets.token_hex(8)}" if child is None else child.run
    drawn = secrets.randbits(63) if seed is None else seed
    at = runtime.clock.now()
    messages = standardise_prompt(prompt)
    context = json_object("runtime_context", options.get("runtime_context")) or EMPTY_OBJECT
    first = begin(program, messages, run=run, seed=drawn, at=at, runtime_context=context)
    header = JournalHeader(
        run,
        drawn,
        at,
        messages,
        program.fingerprint,
        commands=command_ids(first),
        runtime_context=context,
    )
    return Begun(program, first, runtime, header, cancel, child, steering)


def within(program: Program, child: ChildRun | None) -> Program:
    """The program with the limits that it has as the run of a tool call, if it is one."""
    if child is None:
        return program
    return evolve(program, limits=child.limits, prices={**child.prices, **program.prices})


def child_of(
    parent: object, program: Program, taken_up: LoopState | None = None
) -> ChildRun | None:
    """The run that a tool call begins, or takes up, if it is one.

    Raises:
        UsageError: the tool has no grant, or its call is over.
    """
    if parent is None or isinstance(parent, ChildRun):
        return parent  # who resumes runs has begun it already
    from stepfold.pipeline import StageContext

    if isinstance(parent, StageContext):
        return parent.child(program.limits, taken_up)
    if not isinstance(parent, ToolContext):
        raise UsageError(f"parent: expected the ToolContext of a tool call, got {parent!r:.200}")
    if parent.children is None:
        raise UsageError(
            "parent: expected the context of a tool with a grant, got that of one without: "
            "declare it as @tool(grant=Limits(…))"
        )
    return parent.children.begin(program.limits, taken_up)
