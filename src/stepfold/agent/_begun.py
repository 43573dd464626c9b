"""The start of a run: what it is called, and how it began."""

import secrets
from collections.abc import Sequence
from typing import Generic, TypeVar, final

from attrs import frozen

from stepfold.agent._checks import json_object, require_options
from stepfold.agent._options import RunOptions
from stepfold.loop import (
    Granted,
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
    granted = None if child is None else child.granted
    run = run_id
    if run is None:
        run = f"run-{secrets.token_hex(8)}" if child is None else child.run
    drawn = secrets.randbits(63) if seed is None else seed
    at = runtime.clock.now()
    messages = standardise_prompt(prompt)
    context = json_object("runtime_context", options.get("runtime_context")) or EMPTY_OBJECT
    first = begin(
        program,
        messages,
        run=run,
        seed=drawn,
        at=at,
        runtime_context=context,
        granted=granted,
    )
    header = JournalHeader(
        run,
        drawn,
        at,
        messages,
        program.fingerprint,
        commands=command_ids(first),
        runtime_context=context,
        granted=granted,
    )
    return Begun(program, first, runtime, header, cancel, child, steering)


def newly_granted(child: ChildRun | None, state: LoopState) -> Granted | None:
    """What a run that is taken up is granted by the call that does so, if that is another grant."""
    if child is None or child.granted == state.identity.granted:
        return None
    return child.granted


def child_of(
    parent: object, program: Program, taken_up: LoopState | None = None
) -> ChildRun | None:
    """The run that a tool call begins, or takes up, if it is one.

    Raises:
        UsageError: the tool has no grant, its call is over, or a model's price is not known.
    """
    if parent is None or isinstance(parent, ChildRun):
        return parent  # who resumes runs has begun it already
    from stepfold.pipeline import StageContext

    if isinstance(parent, StageContext):
        return parent.child(program, taken_up)
    if not isinstance(parent, ToolContext):
        raise UsageError(f"parent: expected the ToolContext of a tool call, got {parent!r:.200}")
    if parent.children is None:
        raise UsageError(
            "parent: expected the context of a tool with a grant, got that of one without: "
            "declare it as @tool(grant=Limits(…))"
        )
    return parent.children.begin(program, taken_up)
