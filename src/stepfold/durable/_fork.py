"""Forks: another run that begins where a recorded one was, and may go on otherwise."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from attrs import evolve

from stepfold.agent import Agent
from stepfold.durable._file import FileStore
from stepfold.durable._journal import status_of
from stepfold.durable._recorded import stored_in, write_records
from stepfold.durable._recording import recovered
from stepfold.durable._records import BaseRecord, encode_record
from stepfold.durable._sealed import AnySeal, salt_for, sealed
from stepfold.loop import (
    Calling,
    Diverged,
    Done,
    Increment,
    LoopState,
    Preparing,
    Program,
    Transcript,
    inspect_history,
)
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalRecord,
    JournalStore,
    StoredJournal,
)
from stepfold.values import Failure, Message, UsageError, UserMessage


async def fork(
    agent: Agent[object, object] | Program,
    store: JournalStore,
    run_id: str,
    new: str,
    /,
    *,
    at: int,
    messages: Sequence[Message] | None = None,
    say: str | Sequence[Message] = (),
    seal: AnySeal | None = None,
) -> LoopState:
    """Make a run that begins where another one was after its first `at` records.

    It has a name of its own, and so have its calls: none has the idempotency key of a call of the
    run that it came from. `resume` takes it on. The agent may be another one, with other tools or
    another model: where a step had come to rest at `at`, nothing is decided anew, and a model
    call that was to be made goes to the new agent's model. Where the model was to be asked next,
    `messages` are what the history is instead of that of the run, and `say` are put to its end.

    Gives the state from which the fork goes on.

    Raises:
        JournalError: there is no such run, it is damaged, or `new` exists.
        UsageError: the run has ended there; the step was open and this program decides otherwise
            than the run's did; calls are at work where messages are given; or these are no history
            that can be sent.
    """
    program = agent if isinstance(agent, Program) else agent.program
    found = await store.read(run_id)
    if isinstance(found, Failure):
        raise JournalError(found.failure())
    stored = found.unwrap()
    if not 0 < at <= stored.run.version:
        raise JournalError(JournalConflict(run_id, at, stored.run.version))
    state = forked_state(program, stored, new, at=at, messages=messages, say=say, seal=seal)
    made = await store.fork(run_id, new, at=at)
    if isinstance(made, Failure):
        raise JournalError(made.failure())
    outcome = await store.append(new, base_record(state, seal=seal), expected=at)
    if isinstance(outcome, Failure):
        raise JournalError(outcome.failure())
    return state


def fork_recording(
    agent: Agent[object, object] | Program,
    path: str | PathLike[str],
    new: str,
    /,
    *,
    at: int,
    messages: Sequence[Message] | None = None,
    say: str | Sequence[Message] = (),
    seal: AnySeal | None = None,
) -> Path:
    """As `fork`, of a recording in a file: gives the file of the fork, beside it.

    That is where `FileStore(path.parent)` keeps a run of this name, so `resume` can take it on.

    Raises:
        JournalError: the file is not there or is damaged, or there is one of the fork already.
        UsageError: as `fork`.
    """
    program = agent if isinstance(agent, Program) else agent.program
    found = stored_in(path)
    if isinstance(found, Failure):
        raise JournalError(found.failure())
    stored = found.unwrap()
    run = stored.run
    if not 0 < at <= run.version:
        raise JournalError(JournalConflict(run.run, at, run.version))
    state = forked_state(program, stored, new, at=at, messages=messages, say=say, seal=seal)
    base = base_record(state, seal=seal)
    told = evolve(
        run,
        run=new,
        version=at + 1,
        status=base.status,
        updated=state.now,
        parent=run.run,
        forked_at=at,
    )
    records = (*stored.records[:at], base.data)
    payloads = {**stored.payloads, **dict(base.payloads)}
    made = FileStore(Path(path).parent).path_of(new)
    write_records(made, StoredJournal(told, records, payloads))
    return made


def base_record(state: LoopState, *, seal: AnySeal | None = None) -> JournalRecord:
    """The record with which a fork leaves the run that it came from."""
    line, payloads = encode_record(BaseRecord(Increment(state)), salt=salt_for(seal))
    return JournalRecord(
        sealed(seal, line),
        state.now,
        status_of(state),
        tuple((digest, sealed(seal, data, is_text=True)) for digest, data in payloads.items()),
    )


def forked_state(
    program: Program,
    stored: StoredJournal,
    new: str,
    *,
    at: int,
    messages: Sequence[Message] | None = None,
    say: str | Sequence[Message] = (),
    seal: AnySeal | None = None,
) -> LoopState:
    """The state of a fork: that of the run after `at` records, under another name.

    Raises:
        JournalError: the journal is damaged.
        UsageError: as `fork`.
    """
    cut = evolve(stored, records=stored.records[:at])
    outcome = recovered(program, cut, seal=seal, allow_other_program=True)
    if isinstance(outcome, Failure):
        fault = outcome.failure()
        if isinstance(fault, JournalDamaged):
            raise JournalError(fault)
        raise UsageError(_told(fault, at))
    state = outcome.unwrap().state
    if isinstance(state.phase, Done):
        raise UsageError(
            f"fork: expected a run that goes on after record {at}, got one that has ended there: "
            "take an earlier record, or begin a new run with the messages of this one"
        )
    identity = evolve(state.identity, run=new, fingerprint=program.fingerprint, resumed=0)
    state = evolve(state, identity=identity)
    phase = state.phase
    if isinstance(phase, Calling) and phase.model not in program.models:
        state = evolve(state, phase=evolve(phase, model=program.models[0], attempt=0))
    words = (UserMessage(say),) if isinstance(say, str) else tuple(say)
    if not words and messages is None:
        return state
    if not isinstance(state.phase, Calling | Preparing):
        raise UsageError(
            "fork: expected nothing to say, since calls are at work or open there, got messages: "
            "take a record at which a model is to be asked next"
        )
    transcript = state.transcript
    if messages is not None:
        transcript = _retold(program, transcript, tuple(messages))
    return evolve(state, transcript=transcript.with_late(words))


def _retold(program: Program, transcript: Transcript, messages: tuple[Message, ...]) -> Transcript:
    """The transcript with another history; the steps that were made stay what they were."""
    found = inspect_history(messages, allow_system_messages=program.allow_system_messages)
    faults = [finding for finding in found if finding.severity == "error"]
    if not messages or faults:
        problem = f"message {faults[0].message}: {faults[0].problem}" if faults else "none at all"
        raise UsageError(f"fork: expected messages that can be sent as they are, got {problem}")
    return evolve(
        transcript, messages=messages, base=None, base_from=0, late=(), initial=len(messages)
    )


def _told(diverged: Diverged, at: int) -> str:
    return (
        f"fork: the step is open at record {at}, and this program decides otherwise in it: at "
        f"entry {diverged.position} expected {diverged.expected}, got {diverged.got}; take a "
        "record at which a step came to rest"
    )
