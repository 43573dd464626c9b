"""`Book`: writes the journal of one run of a pipeline."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Final, final

import anyio

from stepfold.codec import to_json
from stepfold.loop import Limits, LoopState
from stepfold.pipeline._boundary import Boundaries, Boundary, Kept, read, written
from stepfold.pipeline._ends import Crashed, Finished, Suspended
from stepfold.pipeline._following import lineage_to
from stepfold.pipeline._kept import KeptAgent, written_end
from stepfold.pipeline._state import PipelineState, Strand, Transition
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.events import (
    CancelAsked,
    Event,
    InputGiven,
    StageBegun,
    StageEvent,
    StageFailed,
    StageKey,
    StageRaised,
    StageRested,
    StageStopped,
    StageSucceeded,
    StageTakenUp,
    StageTimedOut,
    Waited,
)
from stepfold.ports import JournalError, JournalRecord, JournalStore, RunStatus
from stepfold.schema import form_of, unbind
from stepfold.shell import spent_by
from stepfold.values import Failure, Instant, Price, Success, UsageError

VERSION: Final = 1
NAMES: Final[Mapping[type[Event], str]] = {
    StageBegun: "begun",
    StageSucceeded: "succeeded",
    StageFailed: "failed",
    StageRaised: "raised",
    StageRested: "rested",
    StageTakenUp: "taken-up",
    StageStopped: "stopped",
    StageTimedOut: "timed-out",
    Waited: "waited",
    InputGiven: "given",
    CancelAsked: "cancelled",
}
PRICES: Final = form_of(dict[str, Price], where="prices")
_ENDS: Final = (StageSucceeded, StageFailed, StageRaised, StageStopped, StageTimedOut)


@final
class Book:
    """Writes each event of a run down, at the version that the run is at.

    `fault` is why the store refused a record; nothing may be written after that.
    """

    def __init__(
        self,
        store: JournalStore,
        run: str,
        wiring: Wiring,
        boundaries: Boundaries,
        version: int = 0,
    ) -> None:
        self.fault: JournalError | None = None
        self._store = store
        self._run = run
        self._wiring = wiring
        self._version = version
        self._boundaries = boundaries
        self._agents: dict[StageKey, KeptAgent] = {}
        self._lock: Final = anyio.Lock(fast_acquire=True)

    async def begin(
        self,
        given: object,
        seed: int,
        first: Transition,
        at: Instant,
        limits: Limits | None,
        prices: Mapping[str, Price],
    ) -> None:
        """Write down how the run began.

        Raises:
            JournalError: the store holds a run of this name already.
            UsageError: what is given is of another type than the pipeline takes.
        """
        form = self._boundaries.given
        boundary = Boundary("what the pipeline is given", Kept.WRITTEN, form, None)
        head: dict[str, object] = {
            "v": VERSION,
            "type": "pipeline-begun",
            "run": self._run,
            "seed": seed,
            "at": at,
            "wiring": print_of(self._wiring),
            "given": written(boundary, form, given),
        }
        if limits is not None:
            head["limits"] = [limits.tokens, limits.cost, limits.tool_calls]
        if prices:
            head["prices"] = unbind(dict(prices), PRICES)
        await self._append(head, at, first.state)

    async def append(self, before: PipelineState, event: Event, after: PipelineState, /) -> None:
        """Write an event down; it counts once this has returned.

        Raises:
            JournalError: somebody else goes on with this run.
            UsageError: a stage gave another type than it promised.
        """
        record: dict[str, object] = {"type": NAMES[type(event)], "at": event.at}
        if isinstance(event, CancelAsked):
            record["reason"] = event.reason
        else:
            strand = strand_at(before, event.key)
            if strand is not None:
                record |= self._answer(strand, event)
        await self._append(record, event.at, after)

    def agent_of(self, key: StageKey, /) -> KeptAgent:
        """The journal of the agent of a stage."""
        if key not in self._agents:
            self._agents[key] = KeptAgent(key, self._write)
        return self._agents[key]

    def agent_states(self) -> Iterator[LoopState]:
        """Where the agents stand that have begun and have no answer yet."""
        for agent in self._agents.values():
            if agent.state is not None:
                yield agent.state

    def _answer(self, strand: Strand, event: StageEvent) -> Mapping[str, object]:
        """Which stage it was, and what it said."""
        key, instruction = event.key, self._wiring.code[strand.at]
        record: dict[str, object] = {
            "strand": list(key.strand),
            "place": key.place,
            "stage": instruction.title,
        }
        agent = self._agents.get(key)
        if agent is not None and isinstance(event, _ENDS):
            del self._agents[key]
            if agent.state is not None:
                spent = spent_by(agent.state)
                record["spent"] = [spent.tokens, spent.spent_cost, spent.tool_calls]
        match event:
            case StageRaised():
                record |= {"exception": event.exception, "message": event.message}
            case StageRested():
                record["asked"] = [to_json(request) for request in event.asked]
            case StageSucceeded() | StageFailed() | InputGiven():
                boundary = self._boundaries.at(strand.at)
                if boundary.agent is not None and not isinstance(event, InputGiven):
                    state = None if agent is None else agent.state
                    record |= written_end(state, is_success=isinstance(event, StageSucceeded))
                else:
                    record |= _side(boundary, event)
            case _:
                pass
        return record

    async def _write(self, record: Mapping[str, object], at: Instant) -> None:
        """Write down what an agent did, which changes nothing for the pipeline."""
        await self._append(record, at, None)

    async def _append(
        self, record: Mapping[str, object], at: Instant, state: PipelineState | None
    ) -> None:
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
        kept = JournalRecord(line, at, "running" if state is None else _status(state))
        with anyio.CancelScope(shield=True):
            async with self._lock:
                if self.fault is not None:
                    raise self.fault
                try:
                    outcome = await self._store.append(self._run, kept, expected=self._version)
                except JournalError as fault:
                    self.fault = fault
                    raise
                match outcome:
                    case Success(version):
                        self._version = version
                    case Failure(conflict):
                        self.fault = JournalError(conflict)
                        raise self.fault


def _side(
    boundary: Boundary, event: StageSucceeded | StageFailed | InputGiven
) -> Mapping[str, object]:
    """What is written of the value or the error of an answer."""
    if isinstance(event, StageFailed):
        return {"error": written(boundary, boundary.error, event.error)}
    if boundary.kept is Kept.WRITTEN:
        return {"value": written(boundary, boundary.value, event.value)}
    return {}


def read_answer(boundary: Boundary, value: object) -> object:
    """The value of an input as it will be read again.

    Raises:
        UsageError: it is of another type than was asked for.
    """
    match read(boundary.value, written(boundary, boundary.value, value)):
        case Success(found):
            return found
        case Failure(problem):
            raise UsageError(f"resume: {boundary.title}: {problem}")


def strand_at(state: PipelineState, key: StageKey) -> Strand | None:
    """The strand that waits for an answer, if it is still open."""
    lineage = None if state.root is None else lineage_to(state.root, key.strand)
    return None if lineage is None else lineage[-1]


def print_of(wiring: Wiring) -> str:
    """A digest of how a pipeline is wired, which a change of the code within stages leaves."""
    shown = [
        [one.op.value, one.title, one.then, one.failed, one.arms, one.bound, one.seconds]
        for one in wiring.code
    ]
    text = json.dumps([wiring.entry, shown], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _status(state: PipelineState) -> RunStatus:
    match state.end:
        case None:
            return "running" if state.busy else "blocked"
        case Finished(Success()):
            return "completed"
        case Finished() | Crashed():
            return "failed"
        case Suspended():
            return "blocked"
        case _:
            return "cancelled"
