"""`stepfold demo`: a real model calls a real tool, and each decision is shown as it is made.

The journal is watched: whenever an event is written to it, the watcher asks `step` itself what
the event means, and shows what went in and what came out. What the model says comes from the
stream.
"""

import time
from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from stepfold.agent import Agent, Run
from stepfold.cli._ending import COMPLETED, FAILED, INTERRUPTED, cancelled_by_interrupt
from stepfold.cli._screen import Screen
from stepfold.cli._view import call_text, end_text, outcome_text, show_steps
from stepfold.codec import encode
from stepfold.loop import (
    Done,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    Working,
    begin,
    is_step_count,
    replay,
    step,
)
from stepfold.loop.commands import CallModel, Command, RunTool
from stepfold.loop.events import (
    Event,
    ModelFailed,
    ModelReplied,
    ToolReturned,
    ToolStarted,
    ToolSucceeded,
)
from stepfold.ports import LanguageModel
from stepfold.providers.local import local_model
from stepfold.shell import AnyTool, CancelHandle, MemoryJournal, tool
from stepfold.values import (
    CallSettings,
    Cancelled,
    Completed,
    Failure,
    Success,
    Text,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
)

PROMPT: Final = "What is the temperature in Oslo right now?"
CELSIUS: Final = 17.3
_SEED: Final = 7
_MOST_STEPS: Final = 4
_MARGIN: Final = 12


@final
@frozen(order=False)
class Thermometer:
    """What the demo's tools read; what it shows stands nowhere in what the model is told."""

    celsius: float = CELSIUS

    def tools(self) -> Sequence[AnyTool[object, object]]:
        """The two tools that the model may choose from."""

        @tool
        def get_temperature(city: str) -> float:
            """Measure the temperature of a city right now, in degrees Celsius."""
            return self.celsius

        @tool
        def get_time(city: str) -> str:
            """Tell the time of a city."""
            return time.strftime("%H:%M")

        return (get_temperature, get_time)


async def demo(screen: Screen, *, celsius: float = CELSIUS, streams: bool = True) -> int:
    """Load the local model and show a run of it.

    Raises:
        UsageError: engine or weights are not installed; the text says how to install them.
    """
    async with local_model(threads=1, seed=_SEED, on_progress=screen.busy) as model:
        screen.idle()
        return await shown(screen, model, celsius=celsius, streams=streams)


async def shown(
    screen: Screen, model: LanguageModel, *, celsius: float = CELSIUS, streams: bool = True
) -> int:
    """Show a run of the demo with this model; 0 if the tool's result reached the answer."""
    tools = Thermometer(celsius).tools()
    agent = Agent(
        model=model,
        tools=tools,
        stop_when=is_step_count(_MOST_STEPS),
        settings=CallSettings(temperature=0.0, seed=_SEED),
    )
    _introduce(screen, model, tools)
    journal = _WatchedJournal(screen, agent.program)
    cancel = CancelHandle()
    async with cancelled_by_interrupt(cancel):
        run = await _run(agent, journal, screen, cancel, streams=streams)
    show_steps(screen, run.steps, run.usage)
    if isinstance(run.end, Cancelled):
        return INTERRUPTED
    return COMPLETED if _verdict(screen, agent.program, journal.kept, run, f"{celsius}") else FAILED


async def _run(
    agent: Agent[object, str],
    journal: "_WatchedJournal",
    screen: Screen,
    cancel: CancelHandle,
    *,
    streams: bool,
) -> Run[object]:
    if not streams:
        match await agent.try_generate(PROMPT, journal=journal, cancel=cancel, seed=_SEED):
            case Success(run):
                return run
            case Failure(failed):
                return failed.run
    async with agent.stream(PROMPT, journal=journal, cancel=cancel, seed=_SEED) as stream:
        async for part in stream:
            match part:
                case ToolInputStart(_, name):
                    journal.show_said(f"{name} ")
                case ToolInputDelta(_, delta) | TextDelta(_, delta):
                    journal.show_said(delta)
                case _:
                    pass
        return await stream.run()


@final
class _WatchedJournal:
    """A journal that shows, for each event, what `step` makes of it."""

    def __init__(self, screen: Screen, program: Program) -> None:
        self.kept: Final = MemoryJournal()
        self._screen: Final = screen
        self._program: Final = program
        self._state: LoopState | None = None
        self._speaking = False

    async def begin(self, header: JournalHeader, /) -> None:
        await self.kept.begin(header)
        first = begin(
            self._program, header.messages, run=header.run, seed=header.seed, at=header.at
        )
        self._state = first.state
        self._row("event", f"begin: {PROMPT}", "cyan")
        self._decided(first.commands)

    async def append(self, entry: JournalEntry, /) -> None:
        await self.kept.append(entry)
        if self._state is None:
            return
        event = entry.event
        if isinstance(event, ModelReplied) and not self._speaking:  # it came in one piece
            for part in event.reply.content:
                match part:
                    case ToolCall(_, name, given):
                        self.show_said(f"{name} {given}")
                    case Text(text):
                        self.show_said(text)
                    case _:
                        pass
        self._speaking = False
        if isinstance(event, ToolReturned):
            self._screen.line()
            self._row("tool", outcome_text(event.outcome), "bold green")
        transition = step(self._program, self._state, event)
        self._state = transition.state
        self._screen.line()
        self._row("event", _event_text(event), "cyan")
        self._decided(transition.commands)

    def show_said(self, text: str) -> None:
        """Show more of what the model says."""
        if not self._speaking:
            self._speaking = True
            self._screen.line()
            self._screen.stream(f"  {'model':9} ", "magenta")
        self._screen.stream(text, "bold")

    def _decided(self, commands: Sequence[Command]) -> None:
        phase = self._state.phase if self._state is not None else None
        self._row("state", _phase_text(phase), "")
        for command in commands:
            self._row("command", _command_text(command, self._state), "yellow")
            if isinstance(command, CallModel):
                self._screen.busy(f"{command.model} reads the prompt")

    def _row(self, label: str, text: str, style: str) -> None:
        self._screen.line((f"  {label:9} ", style or "dim"), text, hang=_MARGIN)


def _event_text(event: Event) -> str:
    match event:
        case ModelReplied(reply=reply):
            return f"ModelReplied: it ended with {reply.finish_reason.unified!r}"
        case ModelFailed(reason=reason):
            return f"ModelFailed: {reason}"
        case ToolReturned(outcome=outcome):
            return f"ToolReturned: {outcome_text(outcome)}"
        case ToolStarted():
            return "ToolStarted: written down first, so that it never runs twice"
        case _:
            return type(event).__name__


def _phase_text(phase: object) -> str:
    if isinstance(phase, Done):
        return f"Done, {end_text(phase.end)}"
    return type(phase).__name__


def _command_text(command: Command, state: LoopState | None) -> str:
    match command:
        case CallModel(model=model):
            return f"CallModel: ask {model}"
        case RunTool(key, name):
            phase = state.phase if state is not None else None
            slots = phase.slots if isinstance(phase, Working) else ()
            calls = [call_text(slot.call) for slot in slots if slot.index == key.index]
            return f"RunTool: {calls[0] if calls else name}"
        case _:
            return type(command).__name__


def _introduce(
    screen: Screen, model: LanguageModel, tools: Sequence[AnyTool[object, object]]
) -> None:
    local = " (135 million parameters, on this machine, one thread)" if _is_local(model) else ""
    screen.line(
        ("A language model calls a tool", "bold"),
        ", and one pure function makes every decision:",
    )
    screen.line()
    screen.line(("    step(program, state, event) -> Transition(state, commands, notes)", "cyan"))
    screen.line()
    screen.line(("  model     ", "dim"), f"{model.provider}/{model.model_id}{local}")
    screen.line(("  tools     ", "dim"), ", ".join(f"{it.name}(city)" for it in tools))
    screen.line()


def _is_local(model: LanguageModel) -> bool:
    return (model.provider, model.model_id) == ("local", "smollm2")


def _verdict(
    screen: Screen, program: Program, journal: MemoryJournal, run: Run[object], wanted: str
) -> bool:
    """Say whether the tool's result is in the journal and in the answer, and replay the run."""
    returned = any(
        isinstance(entry.event, ToolReturned)
        and isinstance(entry.event.outcome, ToolSucceeded)
        and outcome_text(entry.event.outcome) == wanted
        for entry in journal.entries
    )
    answered = isinstance(run.end, Completed) and wanted in run.text
    screen.line()
    _check(
        screen,
        returned,
        f"the tool ran: the journal holds its result, {wanted}",
        f"the tool did not run: the journal holds no result {wanted}",
    )
    _check(
        screen,
        answered,
        f"the model used it: the answer holds {wanted}, which it was told nowhere else",
        f"the model did not use it: {wanted} is not in its answer, {run.text!r}",
    )
    return _replayed(screen, program, journal, run) and returned and answered


def _replayed(screen: Screen, program: Program, journal: MemoryJournal, run: Run[object]) -> bool:
    count = len(journal.entries)
    started = time.perf_counter()
    outcome = replay(program, journal.header, journal.entries)
    took = (time.perf_counter() - started) * 1_000
    match outcome:
        case Success(state) if encode(state) == encode(run.state):
            told = f"the journal replayed: {count} events, {took:.1f} ms, no model, no tool"
            _check(screen, True, f"{told}, the same state", "")  # noqa: FBT003
            return True
        case Success(_):
            _check(screen, False, "", "the replay reached another state")  # noqa: FBT003
        case Failure(diverged):
            told = f"expected {diverged.expected}, got {diverged.got}"
            _check(screen, False, "", f"the replay diverged at {diverged.position}: {told}")  # noqa: FBT003
    return False


def _check(screen: Screen, holds: bool, good: str, bad: str) -> None:  # noqa: FBT001
    screen.line(
        ("✓ ", "bold green") if holds else ("✗ ", "bold red"), good if holds else bad, hang=2
    )
