"""Pipelines that outlive their process: begun in a store of journals, and taken up again.

Rules. The first record says how a run began; each other one is an event, written before it counts.
Folding them gives the state that was reached. That a stage is about to run which must not run
twice is written before it runs. If its answer was not written, it was in flight when the process
ended, and nobody knows what it has done: the run ends in `Crashed`. All others run again: those
that had not begun, those declared idempotent, and plain functions, which by their contract can.
The events of agents are in the same journal, so that an agent goes on where it was.
"""

import secrets
from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import evolve

from stepfold.pipeline._book import Book, print_of, read_answer, strand_at
from stepfold.pipeline._boundary import boundaries_of
from stepfold.pipeline._driver import Driver
from stepfold.pipeline._ends import AgentAsks, Open, OpenInput, PipelineEnd, Suspended
from stepfold.pipeline._execute import (
    StartOptions,
    children_of,
    clock_of,
    ending_of,
    require_known,
    telling,
)
from stepfold.pipeline._following import lineage_to, topmost_closing
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._open import open_inputs, pending
from stepfold.pipeline._reader import Reader
from stepfold.pipeline._run import PipelineRun
from stepfold.pipeline._setting import Setting
from stepfold.pipeline._state import PipelineState, Transition
from stepfold.pipeline._step import begin
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.commands import Command
from stepfold.pipeline.events import (
    Event,
    InputGiven,
    StageKey,
    StageRaised,
    StageStopped,
    StageTakenUp,
)
from stepfold.ports import JournalDamaged, JournalError, JournalStore
from stepfold.shell import ChildRuns, spent_by
from stepfold.values import Failure, Success, UsageError

Answers: TypeAlias = (
    Mapping[str, object]
    | Mapping[OpenInput, object]
    | Mapping[AgentAsks, object]
    | Mapping[Open, object]
)
"""Answers to what is open, by their names or by themselves."""

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
    limits, prices = options.get("limits"), options.get("prices") or {}
    children = children_of(run_id, limits, prices)
    book = Book(journal, run_id, wiring, boundaries_of(node, wiring))
    clock, seed = clock_of(options), options.get("seed")
    seed = secrets.randbits(63) if seed is None else seed
    at = clock.now()
    first = begin(wiring, given, run=run_id, seed=seed, at=at)
    await book.begin(given, seed, first, at, limits, prices)
    return await _carried_on(wiring, first, book, children, options)


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
    reader, book = await _recovered(node, wiring, run_id, journal)
    reached = reader.state
    given = _answers(wiring, reached, answers, reader, book)
    if reached.end is not None:
        return run_of(wiring, reached)
    again, settled = _in_flight(wiring, reached)
    children = _children_again(reader, book, options)
    transition = Transition(reached, again, ())
    return await _carried_on(wiring, transition, book, children, options, (*settled, *given))


async def read_lines(journal: JournalStore, run_id: str) -> tuple[bytes, ...]:
    """The records of a run.

    Raises:
        JournalError: there is no such run.
    """
    match await journal.read(run_id):
        case Success(stored):
            return stored.records
        case Failure(fault):
            raise JournalError(fault)


async def _recovered(
    node: Node, wiring: Wiring, run_id: str, journal: JournalStore
) -> tuple[Reader, Book]:
    """Where a run stands, and the book that goes on with it.

    Raises:
        JournalError: there is no such run, or what is written is damaged.
        UsageError: another pipeline, or other agents within it, began the run.
    """
    lines = await read_lines(journal, run_id)
    boundaries = boundaries_of(node, wiring)
    reader = Reader(run_id, wiring, boundaries)
    if reader.wiring_in(lines) != print_of(wiring):
        raise UsageError(
            f"resume: the run {run_id!r} was begun by a pipeline that is wired in another way; "
            "resume it with the code that began it, or fork it"
        )
    parted = reader.begin(lines[0])
    for position, line in enumerate(lines[1:]):
        parted = parted or reader.read(line, position)
        if parted is not None:
            problem = f"record {position + 2}: expected {parted.expected}, got {parted.got}"
            raise JournalError(JournalDamaged(run_id, problem))
    book = Book(journal, run_id, wiring, boundaries, len(lines))
    for key, outcome in reader.reached():
        match outcome:
            case Success(state):
                book.agent_of(key).state = state
            case Failure(diverged):
                raise UsageError(
                    f"resume: the run {run_id!r} was begun with another program of an agent: "
                    f"expected {diverged.expected}, got {diverged.got}; give the agent that it was "
                    "begun with, or fork the run before it"
                )
    return reader, book


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
        elif lineage is not None and lineage[-1].begun:
            settled.append(StageRaised(key, "Interrupted", _INTERRUPTED, 0))
        else:
            again.append(command)
    return tuple(again), tuple(settled)


def _children_again(reader: Reader, book: Book, options: StartOptions) -> ChildRuns | None:
    """What all agents may still spend: the limits without what was spent before."""
    opening = reader.opening
    limits = opening.limits if options.get("limits") is None else options.get("limits")
    if limits is None:
        return None
    tokens, cost, calls = reader.spent
    for state in book.agent_states():
        spent = spent_by(state)
        tokens, cost = tokens + spent.tokens, cost + spent.spent_cost
        calls += spent.tool_calls
    left = evolve(
        limits,
        tokens=_less(limits.tokens, tokens),
        cost=_less(limits.cost, cost),
        tool_calls=_less(limits.tool_calls, calls),
    )
    return children_of(reader.state.run, left, {**opening.prices, **(options.get("prices") or {})})


def _less(limit: int | None, spent: int) -> int | None:
    return None if limit is None else max(0, limit - spent)


def _answers(
    wiring: Wiring, state: PipelineState, answers: Answers, reader: Reader, book: Book
) -> tuple[Event, ...]:
    """The answers to what is open, as events; those to agents are given to these.

    Raises:
        UsageError: one is for nothing that is open, or of another type than that asks for.
    """
    asked = open_inputs(wiring, state)
    events: list[Event] = []
    to_agents: dict[StageKey, list[object]] = {}
    for name, value in answers.items():
        meant = _meant(name, asked)
        strand = strand_at(state, meant.key)
        if isinstance(meant, AgentAsks):
            to_agents.setdefault(meant.key, []).append(value)
        elif strand is not None:
            boundary = reader.boundaries.at(strand.at)
            events.append(InputGiven(meant.key, read_answer(boundary, value), 0))
    for key, given in to_agents.items():
        strand, agent = strand_at(state, key), book.agent_of(key)
        asks = None if strand is None else reader.asks(strand)
        if asks is not None and agent.state is not None:
            asks.check(agent.state, given)
            agent.answers = tuple(given)
            events.append(StageTakenUp(key, 0))
    return tuple(events)


def _meant(name: str | Open, asked: tuple[Open, ...]) -> Open:
    """What an answer is for.

    Raises:
        UsageError: nothing of this name is open, or several are.
    """
    found = [one for one in asked if name in {one, one.name}]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"resume: {len(found)} open inputs are named {name!r}: answer each by itself, with "
            "what is in run.end.open in place of the name"
        )
    known = ", ".join(repr(one.name) for one in asked) or "nothing"
    raise UsageError(f"resume: the run waits for {known}, got an answer for {name!r}")


async def _carried_on(
    wiring: Wiring,
    transition: Transition,
    book: Book,
    children: ChildRuns | None,
    options: StartOptions,
    events: tuple[Event, ...] = (),
) -> PipelineRun[object, object]:
    clock = clock_of(options)
    tell = telling(options.get("observers", ()))
    ending, parts = ending_of(options, clock), options.get("parts", False)
    setting = Setting(clock, tell, children, ending, book, parts)
    driver = Driver(wiring, transition, setting)
    for event in events:
        await driver.feed(evolve(event, at=clock.now()))
    await driver.run()
    return run_of(wiring, driver.state)


def run_of(wiring: Wiring, state: PipelineState) -> PipelineRun[object, object]:
    """The run that a state is of, at rest or at its end."""
    end: PipelineEnd[object, object] | None = state.end
    if end is None:
        end = Suspended(open_inputs(wiring, state))
    return PipelineRun(state.run, end=end)
