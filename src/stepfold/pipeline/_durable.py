"""Pipelines that outlive their process: begun in a store of journals, and taken up again.

Rules. The first record says how a run began; each other one is an event, written before it counts.
Folding them gives the state that was reached. A stage whose answer was not written was in flight
when the process ended: it runs again if it is declared idempotent, or is a plain function that by
its contract can be; otherwise the run ends in `Crashed`, since nobody knows what it has done.
"""

import secrets
from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import evolve

from stepfold.pipeline._book import Book, read_answer, strand_at
from stepfold.pipeline._driver import Driver
from stepfold.pipeline._ends import OpenInput, PipelineEnd, Suspended
from stepfold.pipeline._execute import StartOptions, children_of, clock_of, require_known, telling
from stepfold.pipeline._following import lineage_to, topmost_closing
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._open import open_inputs, pending
from stepfold.pipeline._run import PipelineRun
from stepfold.pipeline._state import PipelineState, Transition
from stepfold.pipeline._step import begin
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.commands import Command, RunStage
from stepfold.pipeline.events import Event, InputGiven, StageRaised, StageStopped
from stepfold.ports import JournalStore
from stepfold.values import UsageError

Answers: TypeAlias = Mapping[str, object] | Mapping[OpenInput, object]
"""Values for open inputs, by their names or by themselves."""

_INTERRUPTED: Final = (
    "its process ended while it ran, and it is not declared idempotent(), so it may not run again"
)


async def start(
    node: Node,
    wiring: Wiring,
    given: object,
    journal: JournalStore,
    run_id: str,
    options: StartOptions,
) -> PipelineRun[object, object]:
    """Begin a run in a store, and carry it on until it ends or waits for inputs."""
    require_known("start", options)
    book = Book(journal, run_id, node, wiring)
    clock, seed = clock_of(options), options.get("seed")
    seed = secrets.randbits(63) if seed is None else seed
    at = clock.now()
    first = begin(wiring, given, run=run_id, seed=seed, at=at)
    await book.begin(given, seed, first, at)
    return await _carried_on(wiring, first, book, options)


async def resume(
    node: Node,
    wiring: Wiring,
    run_id: str,
    answers: Answers,
    journal: JournalStore,
    options: StartOptions,
) -> PipelineRun[object, object]:
    """Take a run up again where its journal ends, with answers to what it waits for."""
    require_known("resume", options)
    book = Book(journal, run_id, node, wiring)
    reached = (await book.read()).state
    given = _answers(wiring, reached, answers, book)
    if reached.end is not None:
        return _run_of(wiring, reached)
    again, settled = _in_flight(wiring, reached)
    transition = Transition(reached, again, ())
    return await _carried_on(wiring, transition, book, options, (*settled, *given))


def _in_flight(
    wiring: Wiring, state: PipelineState
) -> tuple[tuple[Command, ...], tuple[Event, ...]]:
    """What was in flight: the commands to carry out again, and the events of all others."""
    again: list[Command] = []
    settled: list[Event] = []
    for command in pending(wiring, state):
        key = command.key
        lineage = None if state.root is None else lineage_to(state.root, key.strand)
        if lineage is not None and topmost_closing(lineage) is not None:
            settled.append(StageStopped(key, 0))
        elif isinstance(command, RunStage) and not wiring.code[command.instruction].repeats:
            settled.append(StageRaised(key, "Interrupted", _INTERRUPTED, 0))
        else:
            again.append(command)
    return tuple(again), tuple(settled)


def _answers(
    wiring: Wiring, state: PipelineState, answers: Answers, book: Book
) -> tuple[Event, ...]:
    """The answers to open inputs, as events.

    Raises:
        UsageError: one is for no open input, or of another type than that asks for.
    """
    asked = open_inputs(wiring, state)
    events: list[Event] = []
    for name, value in answers.items():
        key = _meant(name, asked).key
        strand = strand_at(state, key)
        if strand is not None:
            events.append(InputGiven(key, read_answer(book.boundary_of(strand), value), 0))
    return tuple(events)


def _meant(name: str | OpenInput, asked: tuple[OpenInput, ...]) -> OpenInput:
    """The open input that an answer is for.

    Raises:
        UsageError: there is none of this name, or there are several.
    """
    found = [one for one in asked if name in {one, one.name}]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"resume: {len(found)} open inputs are named {name!r}: answer each by itself, with "
            "the OpenInput of run.end.open in place of the name"
        )
    known = ", ".join(repr(one.name) for one in asked) or "nothing"
    raise UsageError(f"resume: the run waits for {known}, got an answer for {name!r}")


async def _carried_on(
    wiring: Wiring,
    transition: Transition,
    book: Book,
    options: StartOptions,
    events: tuple[Event, ...] = (),
) -> PipelineRun[object, object]:
    clock, run = clock_of(options), transition.state.run
    tell = telling(options.get("observers", ()))
    driver = Driver(wiring, transition, clock, tell, children_of(run, options), book.append)
    for event in events:
        await driver.feed(evolve(event, at=clock.now()))
    await driver.run()
    return _run_of(wiring, driver.state)


def _run_of(wiring: Wiring, state: PipelineState) -> PipelineRun[object, object]:
    end: PipelineEnd[object, object] | None = state.end
    if end is None:
        end = Suspended(open_inputs(wiring, state))
    return PipelineRun(state.run, end=end)
