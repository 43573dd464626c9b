"""`Book`: the journal of one run of a pipeline, what is written in it and how it is read."""

import hashlib
import json
from collections.abc import Mapping
from typing import Final, cast, final

from stepfold.pipeline._boundary import (
    Boundaries,
    Boundary,
    Kept,
    boundaries_of,
    given_again,
    read,
    written,
)
from stepfold.pipeline._ends import Crashed, Finished, Suspended
from stepfold.pipeline._following import lineage_to
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._state import PipelineState, Strand, Transition
from stepfold.pipeline._step import begin, step
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.events import (
    CancelAsked,
    Event,
    InputGiven,
    StageFailed,
    StageKey,
    StageRaised,
    StageStopped,
    StageSucceeded,
    StageTimedOut,
    Waited,
)
from stepfold.ports import JournalDamaged, JournalError, JournalRecord, JournalStore, RunStatus
from stepfold.schema import Form
from stepfold.values import Failure, IllegalEvent, Instant, Success, UsageError

_VERSION: Final = 1
_NAMES: Final[Mapping[type[Event], str]] = {
    StageSucceeded: "succeeded",
    StageFailed: "failed",
    StageRaised: "raised",
    StageStopped: "stopped",
    StageTimedOut: "timed-out",
    Waited: "waited",
    InputGiven: "given",
    CancelAsked: "cancelled",
}


@final
class Book:
    """Writes each event of a run down, at the version that the run is at, and reads them again."""

    def __init__(self, store: JournalStore, run: str, node: Node, wiring: Wiring) -> None:
        self._store = store
        self._run = run
        self._wiring = wiring
        self._version = 0
        self._boundaries: Boundaries = boundaries_of(node, wiring)

    def boundary_of(self, strand: Strand) -> Boundary:
        """What goes over the boundary where a strand waits.

        Raises:
            IllegalEvent: it waits for nothing that is written.
        """
        boundary = self._boundaries.of[strand.at]
        if boundary is None:
            raise IllegalEvent(f"nothing is written of what strand {strand.path} waits for")
        return boundary

    # --- writing ------------------------------------------------------------------------------

    async def begin(self, given: object, seed: int, first: Transition, at: Instant) -> None:
        """Write down how the run began.

        Raises:
            JournalError: the store holds a run of this name already.
            UsageError: what is given is of another type than the pipeline takes.
        """
        form = self._boundaries.given
        boundary = Boundary("what the pipeline is given", Kept.WRITTEN, form, None)
        head = {
            "v": _VERSION,
            "type": "pipeline-begun",
            "run": self._run,
            "seed": seed,
            "at": at,
            "wiring": print_of(self._wiring),
            "given": written(boundary, form, given),
        }
        await self._append(head, at, first.state)

    async def append(self, before: PipelineState, event: Event, after: PipelineState) -> None:
        """Write an event down; it counts once this has returned.

        Raises:
            JournalError: somebody else goes on with this run.
            UsageError: a stage gave another type than it promised.
        """
        record: dict[str, object] = {"type": _NAMES[type(event)], "at": event.at}
        if isinstance(event, CancelAsked):
            record["reason"] = event.reason
        else:
            record |= {"strand": list(event.key.strand), "place": event.key.place}
        if isinstance(event, StageRaised):
            record |= {"exception": event.exception, "message": event.message}
        elif isinstance(event, StageSucceeded | StageFailed | InputGiven):
            strand = strand_at(before, event.key)
            if strand is not None:
                record |= _side(self.boundary_of(strand), event)
        await self._append(record, event.at, after)

    async def _append(
        self, record: Mapping[str, object], at: Instant, state: PipelineState
    ) -> None:
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
        kept = JournalRecord(line, at, _status(state))
        match await self._store.append(self._run, kept, expected=self._version):
            case Success(version):
                self._version = version
            case Failure(conflict):
                raise JournalError(conflict)

    # --- reading ------------------------------------------------------------------------------

    async def read(self) -> Transition:
        """The transition that was reached.

        Raises:
            JournalError: there is no such run, or what is written is damaged.
            UsageError: another pipeline began the run.
        """
        found = await self._store.read(self._run)
        if isinstance(found, Failure):
            raise JournalError(found.failure())
        lines = found.unwrap().records
        self._version = len(lines)
        transition = self._begun(self._record(lines[0]))
        for line in lines[1:]:
            record = self._record(line)
            try:
                event = self._event(transition.state, record)
                transition = step(self._wiring, transition.state, event)
            except IllegalEvent as error:
                raise self._damaged(f"an event answers nothing: {error}") from error
        return transition

    def _begun(self, head: Mapping[str, object]) -> Transition:
        if head.get("type") != "pipeline-begun" or head.get("v") != _VERSION:
            raise self._damaged("its first record is not the beginning of a pipeline, version 1")
        if head.get("wiring") != print_of(self._wiring):
            raise UsageError(
                f"resume: the run {self._run!r} was begun by a pipeline that is wired in another "
                "way; resume it with the code that began it"
            )
        given = self._value(self._boundaries.given, head.get("given"), "what it was given")
        seed, at = head.get("seed"), head.get("at")
        if not isinstance(seed, int) or not isinstance(at, int):
            raise self._damaged("its beginning has no seed and time")
        return begin(self._wiring, given, run=self._run, seed=seed, at=at)

    def _record(self, line: bytes) -> Mapping[str, object]:
        try:
            found: object = json.loads(line)
        except ValueError as error:
            raise self._damaged(f"a record is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise self._damaged("a record is no object")
        return cast("dict[str, object]", found)

    def _event(self, state: PipelineState, record: Mapping[str, object]) -> Event:
        at, strand, place = record.get("at"), record.get("strand", []), record.get("place", 0)
        if not isinstance(at, int) or not isinstance(strand, list) or not isinstance(place, int):
            raise self._damaged("an event has no time or place")
        key = StageKey(tuple(cast("list[int]", strand)), place)
        match record.get("type"):
            case "cancelled":
                return CancelAsked(str(record.get("reason")), at)
            case "waited":
                return Waited(key, at)
            case "stopped":
                return StageStopped(key, at)
            case "timed-out":
                return StageTimedOut(key, at)
            case "raised":
                exception, message = record.get("exception"), record.get("message")
                return StageRaised(key, str(exception), str(message), at)
            case "succeeded" | "failed" | "given":
                return self._answer(state, key, record, at)
            case kind:
                raise self._damaged(f"an event is of the unknown type {kind!r:.100}")

    def _answer(
        self,
        state: PipelineState,
        key: StageKey,
        record: Mapping[str, object],
        at: Instant,
    ) -> Event:
        kind = record.get("type")
        strand = strand_at(state, key)
        if strand is None:
            raise self._damaged(f"an answer is to stage {key}, which is not open")
        boundary = self.boundary_of(strand)
        if kind == "failed":
            return StageFailed(
                key, self._value(boundary.error, record.get("error"), boundary.title), at
            )
        if boundary.kept is not Kept.WRITTEN:
            return StageSucceeded(key, given_again(boundary, strand.value), at)
        value = self._value(boundary.value, record.get("value"), boundary.title)
        return InputGiven(key, value, at) if kind == "given" else StageSucceeded(key, value, at)

    def _value(self, form: Form | None, plain: object, title: str) -> object:
        match read(form, plain):
            case Success(value):
                return value
            case Failure(problem):
                raise self._damaged(f"{title} cannot be read: {problem}")

    def _damaged(self, problem: str) -> JournalError:
        return JournalError(JournalDamaged(self._run, problem))


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
