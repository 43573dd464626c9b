"""Runs that are decided anew, and runs that begin in the middle of others."""

import enum
import json
from collections.abc import Mapping, Sequence
from typing import Final, cast, final

from stepfold.loop import Diverged
from stepfold.pipeline._book import print_of
from stepfold.pipeline._boundary import Boundary, Kept, boundaries_of, read, taken_by_stage, written
from stepfold.pipeline._durable import read_lines
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._open import leaves_of
from stepfold.pipeline._reader import Reader, Refit, refitted
from stepfold.pipeline._state import PipelineState
from stepfold.pipeline._wiring import Op, Wiring
from stepfold.pipeline.events import StageKey
from stepfold.ports import JournalError, JournalRecord, JournalStore, RunStatus
from stepfold.values import Failure, Outcome, Success, UsageError


@final
class Unchanged(enum.Enum):
    """Nothing else than what was given."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


async def replayed(
    node: Node, wiring: Wiring, run_id: str, journal: JournalStore
) -> Outcome[PipelineState, Diverged]:
    """Fold what is kept of a run, and tell where it parts from this pipeline."""
    lines = await read_lines(journal, run_id)
    reader = Reader(run_id, wiring, boundaries_of(node, wiring), checks=True)
    parted = reader.begin(lines[0]) or _parted(reader, lines[1:])
    parted = parted or _parted_open(reader, len(lines) - 2)
    return Success(reader.state) if parted is None else Failure(parted)


def _parted(reader: Reader, lines: Sequence[bytes]) -> Diverged | None:
    """Where records part from a pipeline."""
    for position, line in enumerate(lines):
        parted = reader.read(line, position)
        if parted is not None:
            return parted
    return None


def _parted_open(reader: Reader, position: int) -> Diverged | None:
    """Where the agents that have no answer yet part from those of a pipeline."""
    for _, outcome in reader.reached():
        if isinstance(outcome, Failure):
            return Diverged(position, outcome.failure().expected, outcome.failure().got)
    return None


async def fork(
    node: Node,
    wiring: Wiring,
    run_id: str,
    new: str,
    journal: JournalStore,
    at: int | str,
    given: object,
) -> PipelineState:
    """Make a run of the beginning of another one."""
    lines = await read_lines(journal, run_id)
    reader = Reader(run_id, wiring, boundaries_of(node, wiring))
    kept, key = _place_of(at, [reader.record(line) for line in lines])
    parted = reader.begin(lines[0]) or _parted(reader, lines[1:kept])
    if parted is not None:
        raise UsageError(
            f"fork: this pipeline does not agree with the run before record {kept}: at record "
            f"{parted.position + 2} expected {parted.expected}, got {parted.got}; take an earlier "
            "record"
        )
    state = reader.state
    if state.end is not None:
        raise UsageError(
            f"fork: expected a run that goes on after record {kept}, got one that has ended there: "
            "take an earlier record"
        )
    record: dict[str, object] = {
        "type": "forked",
        "at": reader.now,
        "run": new,
        "wiring": print_of(wiring),
    }
    refit: Refit | None = None
    if given is not UNCHANGED:
        refit = _refit(wiring, state, key, given)
        record |= {"strand": list(refit.key.strand), "place": refit.key.place, "given": refit.plain}
    made = await journal.fork(run_id, new, at=kept)
    if isinstance(made, Failure):
        raise JournalError(made.failure())
    line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    forked = refitted(wiring, state, new, refit).state
    status: RunStatus = "running" if forked.busy else "blocked"
    appended = await journal.append(new, JournalRecord(line, reader.now, status), expected=kept)
    if isinstance(appended, Failure):
        raise JournalError(appended.failure())
    return forked


def _place_of(
    at: int | str, records: Sequence[Mapping[str, object]]
) -> tuple[int, StageKey | None]:
    """After how many records, and which stage is meant, if one was named.

    Raises:
        UsageError: there are not so many records, or there is no such stage.
    """
    if isinstance(at, int):
        if not 0 < at <= len(records):
            raise UsageError(f"fork, at: expected a record from 1 to {len(records)}, got {at}")
        return at, None
    for record in records:
        if record.get("stage") == at:
            where = (record.get("strand"), record.get("place"))
            first = next(
                place
                for place, one in enumerate(records)
                if (one.get("strand"), one.get("place")) == where
            )
            strand = cast("list[int]", record.get("strand"))
            return first, StageKey(tuple(strand), cast("int", record.get("place")))
    known = sorted({str(record["stage"]) for record in records if "stage" in record})
    raise UsageError(
        f"fork, at: expected a stage that has run, one of {', '.join(known) or 'none'}, got {at!r}"
    )


def _refit(wiring: Wiring, state: PipelineState, key: StageKey | None, given: object) -> Refit:
    """Another value for the one stage that is open.

    Raises:
        UsageError: there are several, none, or the value does not fit.
    """
    found = [
        strand
        for strand in leaves_of(state.root)
        if wiring.code[strand.at].op in {Op.WORK, Op.CHOOSE} and (key is None or key == strand.key)
    ]
    if len(found) != 1:
        titles = ", ".join(wiring.code[strand.at].title for strand in found) or "none"
        raise UsageError(
            f"fork, given: expected one stage that is open there, got {titles}: name the one that "
            "is meant by at="
        )
    (strand,) = found
    instruction = wiring.code[strand.at]
    form = taken_by_stage(instruction)
    plain = written(
        Boundary(f"fork, given to {instruction.title}", Kept.WRITTEN, form, None), form, given
    )
    match read(form, plain):
        case Success(value):
            return Refit(strand.key, value, plain)
        case Failure(problem):
            raise UsageError(f"fork, given: {instruction.title}: {problem}")
