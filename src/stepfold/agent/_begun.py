"""The start of a run: what it is called, and how it began."""

import secrets
from collections.abc import Sequence
from typing import Generic, TypeVar, final

import anyio
from attrs import frozen

from stepfold.agent._checks import require_options
from stepfold.agent._options import RunOptions
from stepfold.loop import JournalHeader, Program, Transition, begin, command_ids, standardise_prompt
from stepfold.shell import CancelHandle, Runtime
from stepfold.values import Message

D = TypeVar("D")


@final
@frozen(eq=False)
class Begun(Generic[D]):
    """A run that is about to be driven."""

    first: Transition
    runtime: Runtime[D]
    header: JournalHeader
    cancel: CancelHandle | None


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
    require_options(cancel, run_id, seed)
    run = f"run-{secrets.token_hex(8)}" if run_id is None else run_id
    drawn = secrets.randbits(63) if seed is None else seed
    at = runtime.clock.now()
    messages = standardise_prompt(prompt)
    first = begin(program, messages, run=run, seed=drawn, at=at)
    commands = command_ids(first)
    header = JournalHeader(run, drawn, at, messages, program.fingerprint, commands=commands)
    return Begun(first, runtime, header, cancel)


def in_event_loop() -> bool:
    """Whether this is called within a running event loop."""
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True
