"""`Reader`: folds what a journal holds of a run of a pipeline, record by record.

A record that no pipeline can have written is damage, and raises. One that another pipeline must
have written parts from this one, and is told as `Diverged`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeVar, cast, final

from attrs import evolve, frozen
from typing_extensions import TypeForm

from stepfold.codec import from_json
from stepfold.loop import Diverged, JournalEntry, JournalHeader, Limits, LoopState
from stepfold.loop.commands import Grant
from stepfold.pipeline._book import NAMES, PRICES, VERSION, strand_at
from stepfold.pipeline._boundary import Boundaries, Kept, given_again, read, taken_by_stage
from stepfold.pipeline._kept import AsksAgent
from stepfold.pipeline._kept import Kept as KeptRun
from stepfold.pipeline._open import pending
from stepfold.pipeline._state import PipelineState, Strand, Transition
from stepfold.pipeline._step import begin, step
from stepfold.pipeline._vector import row_of
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.events import (
    CancelAsked,
    Event,
    InputGiven,
    StageBegun,
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
from stepfold.ports import JournalDamaged, JournalError
from stepfold.schema import Form
from stepfold.values import (
    Failure,
    IllegalEvent,
    Instant,
    JsonText,
    OpenRequest,
    Outcome,
    Price,
    Success,
)

T = TypeVar("T")

_BARE: Final[
    Mapping[str, type[StageBegun | StageTakenUp | Waited | StageStopped | StageTimedOut]]
] = {NAMES[kind]: kind for kind in (StageBegun, StageTakenUp, Waited, StageStopped, StageTimedOut)}


_ENDS: Final = (StageSucceeded, StageFailed, StageRaised, StageStopped, StageTimedOut)


@final
@frozen(order=False, eq=False)
class Refit:
    """Another value for an open stage, also as it is written down."""

    key: StageKey
    value: object
    plain: object


def refitted(wiring: Wiring, state: PipelineState, run: str, refit: Refit | None) -> Transition:
    """A run under another name, in which all that was open begins anew."""
    root = None if state.root is None else _anew(state.root, refit)
    renamed = PipelineState(run, state.seed, root, state.busy, state.end)
    commands = pending(wiring, renamed)
    return Transition(PipelineState(run, state.seed, root, len(commands), state.end), commands, ())


def _anew(strand: Strand, refit: Refit | None) -> Strand:
    fan, value = strand.fan, strand.value
    if refit is not None and refit.key == strand.key and fan is None:
        value = refit.value
    if fan is not None:
        branches = [_anew(it, refit) if isinstance(it, Strand) else it for it in fan.branches]
        fan = evolve(fan, branches=row_of(branches))
    return evolve(strand, value=value, fan=fan, known=None)


@final
@frozen(order=False)
class Opening:
    """How a run began: its seed and time, and what all agents may spend together."""

    seed: int
    at: Instant
    wiring: str
    limits: Limits | None
    prices: Mapping[str, Price]


@final
class _PartedError(Exception):
    """A record is of another pipeline; leaves the methods below."""

    def __init__(self, expected: str, got: str) -> None:
        super().__init__(expected, got)
        self.expected: Final = expected
        self.got: Final = got


@final
class Reader:
    """Where a run stands after the records that were read so far; `now` is the time of the last.

    With `checks`, the runs of agents are decided anew as well, also of those that have ended.
    `agents` are those that have no answer yet. `spent` are the tokens, the cost and the tool
    calls of those that have.
    """

    def __init__(
        self, run: str, wiring: Wiring, boundaries: Boundaries, *, checks: bool = False
    ) -> None:
        self.transition: Transition
        self.opening: Opening
        self.now: Instant = 0
        self._checks = checks
        self.agents: Final[dict[StageKey, KeptRun]] = {}
        self.spent: tuple[int, int, int] = (0, 0, 0)
        self._run = run
        self.boundaries: Boundaries = boundaries
        self._wiring = wiring

    @property
    def state(self) -> PipelineState:
        """The state that was reached."""
        return self.transition.state

    def wiring_in(self, lines: Sequence[bytes]) -> str | None:
        """The digest of the pipeline that a run is of: of the last fork, or of its beginning.

        Raises:
            JournalError: a record is damaged.
        """
        for line in (*reversed(lines[1:]), lines[0]):
            if b'"wiring":' in line:
                found = self.record(line).get("wiring")
                if isinstance(found, str):
                    return found
        return None

    def begin(self, line: bytes) -> Diverged | None:
        """Read how the run began; tells whether this pipeline cannot have begun so.

        Raises:
            JournalError: that is damaged.
        """
        head = self.record(line)
        if head.get("type") != "pipeline-begun" or head.get("v") != VERSION:
            raise self._damaged(
                f"its first record is not the beginning of a pipeline, version {VERSION}"
            )
        seed, at = head.get("seed"), head.get("at")
        if not isinstance(seed, int) or not isinstance(at, int):
            raise self._damaged("its beginning has no seed and time")
        given = read(self.boundaries.given, head.get("given"))
        if isinstance(given, Failure):
            return Diverged(-1, "a pipeline that takes what it was given", given.failure())
        limits = None if "limits" not in head else self._grant(head["limits"])
        prices = self._value(PRICES, head.get("prices", {}), "its prices")
        self.opening = Opening(
            seed,
            at,
            str(head.get("wiring")),
            limits and Limits(tokens=limits.tokens, cost=limits.cost, tool_calls=limits.tool_calls),
            cast("Mapping[str, Price]", prices),
        )
        run = str(head.get("run"))
        self.transition = begin(self._wiring, given.unwrap(), run=run, seed=seed, at=at)
        self.now = at
        return None

    def read(self, line: bytes, position: int) -> Diverged | None:
        """Read one record; tells where it parts from this pipeline.

        Raises:
            JournalError: it is damaged.
        """
        record = self.record(line)
        try:
            self._happened(record)
        except _PartedError as parted:
            return Diverged(position, parted.expected, parted.got)
        except IllegalEvent as error:
            return Diverged(position, "an event that answers a stage", str(error))
        return None

    def reached(self) -> Iterator[tuple[StageKey, Outcome[LoopState, Diverged]]]:
        """The states of the agents that have no answer yet."""
        for key, kept in self.agents.items():
            yield key, self.reached_by(key, kept)

    def reached_by(self, key: StageKey, kept: KeptRun) -> Outcome[LoopState, Diverged]:
        """The state that one agent has reached."""
        strand = strand_at(self.state, key)
        asks = None if strand is None else self.asks(strand)
        if strand is None or asks is None:
            return Failure(Diverged(-1, f"an agent at stage {key}", "none"))
        outcome = asks.reached(kept)
        if isinstance(outcome, Success):
            return outcome
        parted, title = outcome.failure(), self._wiring.code[strand.at].title
        where = "program" if parted.position < 0 else f"event {parted.position}"
        expected = f"the agent of {title}, {where}: {parted.expected}"
        return Failure(Diverged(parted.position, expected, parted.got))

    def asks(self, strand: Strand) -> AsksAgent | None:
        """The agent of the stage where a strand waits, if it is one's."""
        boundary = self.boundaries.of[strand.at]
        return None if boundary is None else boundary.agent

    # --- records ------------------------------------------------------------------------------

    def _happened(self, record: Mapping[str, object]) -> None:
        kind, at = record.get("type"), record.get("at")
        self.now = at if isinstance(at, int) else self.now
        if kind == "forked":
            self._forked(record)
            return
        if kind == "agent-begun":
            header = self._coded(record, "header", JournalHeader)
            self.agents[self._key(record)] = KeptRun(header)
            return
        if kind == "agent-event":
            key, entry = self._key(record), self._coded(record, "entry", JournalEntry)
            if key not in self.agents:
                raise self._damaged(f"an event is of an agent that never began, at {key}")
            self.agents[key].add(entry)
            return
        event = self._event(record)
        if self._checks and isinstance(event, _ENDS) and event.key in self.agents:
            outcome = self.reached_by(event.key, self.agents[event.key])
            if isinstance(outcome, Failure):
                raise _PartedError(outcome.failure().expected, outcome.failure().got)
        self.transition = step(self._wiring, self.state, event)
        if isinstance(event, _ENDS):
            self.agents.pop(event.key, None)
        if "spent" in record:
            spent = self._grant(record["spent"])
            tokens, cost, calls = self.spent
            self.spent = (
                tokens + (spent.tokens or 0),
                cost + (spent.cost or 0),
                calls + (spent.tool_calls or 0),
            )

    def _forked(self, record: Mapping[str, object]) -> None:
        """Go on as another run."""
        refit: Refit | None = None
        if "given" in record:
            key, plain = self._key(record), record["given"]
            strand = strand_at(self.state, key)
            if strand is None:
                raise self._damaged(f"another value is for stage {key}, which is not open")
            instruction = self._wiring.code[strand.at]
            value = self._value(taken_by_stage(instruction), plain, instruction.title)
            refit = Refit(key, value, plain)
        self.agents.clear()
        self.transition = refitted(self._wiring, self.state, str(record.get("run")), refit)

    def _event(self, record: Mapping[str, object]) -> Event:
        at, kind = record.get("at"), record.get("type")
        if not isinstance(at, int):
            raise self._damaged("an event has no time")
        if kind == "cancelled":
            return CancelAsked(str(record.get("reason")), at)
        if kind not in NAMES.values():
            raise self._damaged(f"an event is of the unknown type {kind!r:.100}")
        key = self._key(record)
        strand = strand_at(self.state, key)
        if strand is None:
            raise _PartedError(f"the stage {record.get('stage', key)} to be open", "it is not")
        title = self._wiring.code[strand.at].title
        if record.get("stage", title) != title:
            raise _PartedError(f"the stage {record['stage']}", f"the stage {title}")
        if isinstance(kind, str) and kind in _BARE:
            return _BARE[kind](key, at)
        if kind == "raised":
            exception, message = str(record.get("exception")), str(record.get("message"))
            return StageRaised(key, exception, message, at)
        if kind == "rested":
            return StageRested(key, self._asked(record), at)
        return self._answer(strand, key, record, at)

    def _answer(
        self, strand: Strand, key: StageKey, record: Mapping[str, object], at: Instant
    ) -> Event:
        boundary, kind = self.boundaries.at(strand.at), record.get("type")
        if boundary.agent is not None:
            if kind == "failed":
                return StageFailed(key, boundary.agent.error_of(self._run_in(record)), at)
            match boundary.agent.value_of(JsonText(str(record.get("output")))):
                case Success(value):
                    return StageSucceeded(key, value, at)
                case Failure(problem):
                    raise _PartedError(f"an output of {boundary.title}", problem)
        if kind == "failed":
            error = self._value(boundary.error, record.get("error"), boundary.title)
            return StageFailed(key, error, at)
        if boundary.kept is not Kept.WRITTEN:
            return StageSucceeded(key, given_again(boundary, strand.value), at)
        value = self._value(boundary.value, record.get("value"), boundary.title)
        return InputGiven(key, value, at) if kind == "given" else StageSucceeded(key, value, at)

    def _run_in(self, record: Mapping[str, object]) -> LoopState:
        return self._coded(record, "run", LoopState)

    def _asked(self, record: Mapping[str, object]) -> tuple[OpenRequest, ...]:
        found = record.get("asked")
        if not isinstance(found, list) or not found:
            raise self._damaged("an agent rests, and asks for nothing")
        return tuple(
            self._coded({"asked": one}, "asked", OpenRequest) for one in cast("list[object]", found)
        )

    # --- parts of records ---------------------------------------------------------------------

    def record(self, line: bytes) -> Mapping[str, object]:
        """A line as it stands.

        Raises:
            JournalError: it is no object.
        """
        try:
            found: object = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"a record is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise self._damaged("a record is no object")
        return cast("dict[str, object]", found)

    def _key(self, record: Mapping[str, object]) -> StageKey:
        strand, place = record.get("strand"), record.get("place")
        if not isinstance(strand, list) or not isinstance(place, int):
            raise self._damaged("an event has no place")
        path = cast("list[object]", strand)
        numbers = tuple(one for one in path if isinstance(one, int))
        if len(numbers) != len(path):
            raise self._damaged("an event has no place")
        return StageKey(numbers, place)

    def _grant(self, found: object) -> Grant:
        match found:
            case [int() | None as tokens, int() | None as cost, int() | None as calls]:
                return Grant(tokens, cost, calls)
            case _:
                raise self._damaged(f"expected tokens, cost and tool calls, got {found!r:.100}")

    def _coded(self, record: Mapping[str, object], name: str, kind: TypeForm[T]) -> T:
        match from_json(record.get(name), kind):
            case Success(value):
                return value
            case Failure(fault):
                raise self._damaged(f"{name}: at {fault.path or '/'}: {fault.message}")

    def _value(self, form: Form | None, plain: object, title: str) -> object:
        match read(form, plain):
            case Success(value):
                return value
            case Failure(problem):
                raise _PartedError(f"what {title} gave to be readable", problem)

    def _damaged(self, problem: str) -> JournalError:
        return JournalError(JournalDamaged(self._run, problem))
