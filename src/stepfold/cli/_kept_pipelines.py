"""Journals of pipelines for `inspect`, `replay` and `fork`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast, final

import anyio
from attrs import frozen

from stepfold.cli._named import kind_of, object_named
from stepfold.cli._screen import Screen, shortened
from stepfold.durable import FileStore, MemoryStore, stored_in
from stepfold.pipeline import Stage
from stepfold.ports import JournalError, JournalRecord, StoredJournal
from stepfold.values import Failure, Success, UsageError

_SECOND: Final = 1_000_000_000
_ANSWERS: Final = frozenset(
    {"succeeded", "failed", "raised", "rested", "stopped", "timed-out", "waited", "given"}
)


@final
@frozen(order=False)
class KeptPipeline:
    """The journal of a pipeline: what the store holds, and each record as an object."""

    stored: StoredJournal
    records: tuple[Mapping[str, object], ...]


def kept_pipeline(file: str) -> KeptPipeline | None:
    """What a file holds, if that is a run of a pipeline."""
    try:
        outcome = stored_in(file)
    except JournalError:
        return None  # whoever reads it as the run of an agent tells what is wrong
    if isinstance(outcome, Failure):
        return None
    stored = outcome.unwrap()
    if b'"pipeline-begun"' not in stored.records[0][:80]:
        return None
    records = tuple(cast("dict[str, object]", json.loads(line)) for line in stored.records)
    return KeptPipeline(stored, records)


def refuse_pipeline(file: str, command: str) -> None:
    """Tell that a command is for runs of agents only.

    Raises:
        UsageError: the file holds a run of a pipeline.
    """
    if kept_pipeline(file) is not None:
        raise UsageError(
            f"{command}: expected a run of an agent, got one of a pipeline in {file}: look at it "
            "by `stepfold inspect`"
        )


# --- inspect ----------------------------------------------------------------------------------


def show_pipeline(kept: KeptPipeline, screen: Screen, *, shows_events: bool, redacts: bool) -> None:
    """Show the stages of a run, or with `shows_events` every record."""
    run, head = kept.stored.run, kept.records[0]
    took = _seconds(run.updated - run.created)
    told = f"{run.status}, {run.version} records in {took}"
    screen.line((f"pipeline run {run.run}", "bold"), f"  {told}")
    if run.parent is not None:
        screen.line((f"a fork of {run.parent} after record {run.forked_at}", "dim"))
    if not redacts:
        screen.line(("given ", "dim"), shortened(_text(head.get("given")), 200))
    screen.line()
    rows = tuple(_rows(kept, shows_events=shows_events, redacts=redacts))
    if rows:
        screen.table(("n", "stage", "what", "at", "place"), rows, total=False)
    else:
        screen.line(("no stage has an answer", "dim"))


def _rows(kept: KeptPipeline, *, shows_events: bool, redacts: bool) -> Iterator[Sequence[str]]:
    began = kept.stored.run.created
    said: dict[str, int] = {}
    for number, record in enumerate(kept.records[1:], start=2):
        kind, place = str(record.get("type")), _place(record)
        at = record.get("at")
        told = _seconds(at - began) if isinstance(at, int) else ""
        if kind == "agent-event" and _event(record) == "model-replied":
            said[place] = said.get(place, 0) + 1
        stage = str(record.get("stage", ""))
        if kind in _ANSWERS or kind in {"cancelled", "forked"}:
            what = f"{kind} {'' if redacts else _what(record)}".rstrip()
            if place in said and kind != "rested":
                count = said.pop(place)
                what = f"{what} ({count} model call{'' if count == 1 else 's'})"
            yield (str(number), stage, what, told, place)
        elif shows_events:
            what = f"agent: {_event(record)}" if kind.startswith("agent-") else kind
            yield (str(number), stage, what, told, place)


def _event(record: Mapping[str, object]) -> str:
    """What happened to an agent."""
    match record:
        case {"entry": {"event": {"type": str() as kind}}}:
            return kind
        case _:
            return "begun"


def _what(record: Mapping[str, object]) -> str:
    match record:
        case {"value": value} | {"error": value} | {"output": value}:
            return shortened(_text(value), 200)
        case {"exception": exception, "message": message}:
            return shortened(f"{exception}: {message}", 200)
        case {"asked": asked} if isinstance(asked, list):
            return f"{len(cast('list[object]', asked))} open"
        case {"reason": reason}:
            return shortened(str(reason), 200)
        case {"type": "forked", "run": run}:
            return f"from here on it is {run}"
        case _:
            return ""


def _place(record: Mapping[str, object]) -> str:
    strand, place = record.get("strand"), record.get("place")
    path = cast("list[int]", strand) if isinstance(strand, list) else []
    return "" if place is None else ".".join(map(str, (*path, place)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / _SECOND:.3f}s"


# --- replay and fork --------------------------------------------------------------------------


def pipeline_named(reference: str) -> Stage[object, object, object]:
    """The pipeline that `module:name` stands for.

    Raises:
        UsageError: there is no such thing, or it is no pipeline.
    """
    found = object_named(reference, option="--program", example="my_pipelines:research")
    if not isinstance(found, Stage):
        raise UsageError(
            f"--program {reference}: expected a pipeline (sf.Stage), since the run is of one, got "
            f"{kind_of(found)}"
        )
    return cast("Stage[object, object, object]", found)


def replay_pipeline(kept: KeptPipeline, program: str, screen: Screen) -> int:
    """Decide a run anew, and give the exit code: 1 where the pipeline parts from it."""
    pipeline, run = pipeline_named(program), kept.stored.run

    async def main() -> int:
        store = MemoryStore()
        for version, line in enumerate(kept.stored.records):
            record = JournalRecord(line, run.created, run.status)
            await store.append(run.run, record, expected=version)
        match await pipeline.replay(run.run, journal=store):
            case Success(_):
                count = f"{len(kept.records) - 1} records"
                screen.line(("the same", "green"), f": {count}, {run.status}")
                return 0
            case Failure(diverged):
                screen.line(("diverged ", "bold red"), f"at record {diverged.position + 2}")
                screen.line((f"- {diverged.expected}", "red"))
                screen.line((f"+ {diverged.got}", "green"))
                return 1

    return anyio.run(main)


def fork_pipeline(
    kept: KeptPipeline, file: str, program: str, screen: Screen, *, at: int | str, new: str | None
) -> int:
    """Write a fork beside a journal; `resume` takes it on.

    Raises:
        UsageError: it cannot be forked there, or a store of files would not find the run.
    """
    pipeline, run = pipeline_named(program), kept.stored.run.run
    name, path = new or f"{run}-{at}", Path(file)
    store = FileStore(path.parent)
    if store.path_of(run).resolve() != path.resolve():
        raise UsageError(f"fork: expected the file {store.path_of(run)} of the run {run!r}")
    try:
        anyio.run(lambda: pipeline.fork(run, name, journal=store, at=at))
    except JournalError as error:
        raise UsageError(str(error)) from error
    screen.line((str(store.path_of(name)), "bold"), f": the run {name}, from {at} of {run}")
    how = f"pipeline.resume({name!r}, journal=durable.FileStore({str(path.parent)!r}))"
    screen.line((f"{how} takes it on", "dim"))
    return 0
