"""The driver: journal before state, workers side by side, and no task left behind."""

from collections.abc import Sequence
from typing import final

import anyio
import anyio.lowlevel
import pytest
from attrs import frozen

from stepfold.agent import Agent, RunFailed
from stepfold.loop import (
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    RetryPolicy,
    begin,
    is_step_count,
    open_requests,
    replay,
    step,
)
from stepfold.loop.commands import CallModel
from stepfold.loop.events import ModelFailed, ModelReplied, ToolReturned, ToolStarted, Waited
from stepfold.ports import Journal, LanguageModel
from stepfold.shell import MemoryJournal, Runtime, drive, tool
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Blocked,
    Completed,
    Failed,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Stopped,
    Success,
    ToolDefinition,
    UsageError,
)
from tests.shell._runs import DONE, agent_of, settled

OVERLOADED = ModelErrorReason("overloaded", "busy")


@tool
async def wait(number: int) -> int:
    await anyio.lowlevel.checkpoint()
    return number


@tool(idempotent=True)
async def again(number: int) -> int:
    return number


@tool
async def at_once(number: int) -> int:
    return number


def calls_of(name: str, *numbers: int) -> ModelReply:
    return reply(*(call(name, {"number": number}) for number in numbers))


# --- workers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [1, 2, 3, 7])
async def test_no_more_tools_are_at_work_than_allowed(cap: int) -> None:
    """A cap holds at every moment, and is made use of."""
    at_work, most = 0, 0

    @tool
    async def count(number: int) -> int:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        for _ in range(number % 3 + 1):
            await anyio.lowlevel.checkpoint()
        at_work -= 1
        return number

    model = ScriptedModel([calls_of("count", *range(20)), DONE])
    run = await Agent(model=model, tools=[count], concurrency=cap).generate("Go.")

    assert run.results_of(count) == tuple(range(20))
    assert most == cap


async def test_tools_that_do_not_suspend_need_no_task_each() -> None:
    """As many tasks as suspended tools, plus one; a stand-by worker takes the next call."""
    before = len(anyio.get_running_tasks())
    most = 0

    @tool
    async def look(number: int) -> int:
        nonlocal most
        most = max(most, len(anyio.get_running_tasks()) - before)
        return number

    run = await agent_of(look, script=[calls_of("look", *range(50)), DONE]).generate("Go.")

    assert run.results_of(look) == tuple(range(50))
    assert most <= 2


async def test_one_call_needs_no_task() -> None:
    """Commands that come alone are awaited where they are."""
    before = len(anyio.get_running_tasks())
    seen: list[int] = []

    @tool
    async def look(number: int) -> int:
        seen.append(len(anyio.get_running_tasks()) - before)
        return number

    await agent_of(look, script=[calls_of("look", 1), DONE]).generate("Go.")

    assert seen == [0]


async def test_no_task_is_left_behind() -> None:
    """Whatever the run did, the event loop is as it was."""
    before = len(anyio.get_running_tasks())
    script = [calls_of("wait", *range(5)), calls_of("wait", 1), DONE]
    await agent_of(wait, script=script).generate("Go.")

    assert len(anyio.get_running_tasks()) == before


# --- retries ----------------------------------------------------------------------------------


async def test_retries_wait_on_the_clock_of_the_run() -> None:
    """A virtual clock never waits; pauses grow, and are told in the journal."""
    clock, journal = VirtualClock(), MemoryJournal()
    agent = Agent(
        model=ScriptedModel([OVERLOADED, OVERLOADED, DONE]),
        retry=RetryPolicy(initial_delay=1000.0, max_delay=10_000.0, jitter=0.0),
    )
    start = clock.now()
    run = await agent.generate("Go.", clock=clock, journal=journal)

    assert run.text == "done"
    assert clock.slept == (start + 1000 * 10**9, start + 3000 * 10**9)
    assert [type(entry.event) for entry in journal.entries] == [
        ModelFailed,
        Waited,
        ModelFailed,
        Waited,
        ModelReplied,
    ]


# --- failures of models -----------------------------------------------------------------------


@final
@frozen
class Broken:
    """A model whose code raises."""

    error: Exception
    provider: str = "acme"
    model_id: str = "broken"

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        raise self.error

    def stream(self, request: ModelRequest, /) -> "Broken":
        return self

    async def __aenter__(self) -> "Broken":
        raise self.error

    async def __aexit__(self, *exc_info: object) -> None:
        pass

    def __aiter__(self) -> "Broken":
        return self

    async def __anext__(self) -> "Broken":
        raise StopAsyncIteration


async def test_what_a_model_says_of_a_wrong_usage_is_told() -> None:
    """As of a script that has come to its end; what other exceptions say may be a secret."""
    agent = Agent(model=ScriptedModel([]))

    with pytest.raises(
        RunFailed, match=r"the model raised UsageError: .*add a reply to the script"
    ):
        await agent.generate("Go.")


async def test_a_foreign_exception_is_the_cause_of_the_failure() -> None:
    """Any other exception is a fault in the model's own code: no retry, and it is kept."""
    error = KeyError("choices")
    model: LanguageModel = Broken(error)  # type: ignore[assignment]
    with pytest.raises(RunFailed, match="the model raised KeyError") as caught:
        await Agent(model=model).generate("Go.")

    assert caught.value.__cause__ is error
    assert isinstance(caught.value.error, ModelErrorReason)
    assert caught.value.run.end == Failed(caught.value.error)
    assert caught.value.run.messages == caught.value.run.state.messages


async def test_a_model_error_keeps_its_reason() -> None:
    """What the provider said is in the text, and the exception is the cause."""
    reason = ModelErrorReason("quota", "no money left", status=429)
    with pytest.raises(RunFailed, match=r"quota \(429\): no money left") as caught:
        await Agent(model=ScriptedModel([reason])).generate("Go.")

    assert caught.value.error is reason
    assert isinstance(caught.value.__cause__, ModelError)


async def test_an_error_that_was_overcome_is_no_cause() -> None:
    """A later failure of another kind does not blame the model's first attempt."""

    def never_stops(_: object) -> None:
        raise ZeroDivisionError

    agent = Agent(
        model=ScriptedModel([OVERLOADED, calls_of("wait", 1)]),
        tools=[wait],
        stop_when=never_stops,
    )
    with pytest.raises(RunFailed, match="ZeroDivisionError") as caught:
        await agent.generate("Go.", clock=VirtualClock())

    assert caught.value.__cause__ is None


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_exit_comes_out_as_it_is(count: int, streamed: bool) -> None:
    """In no group, and through no task of ours: asyncio would end its loop on the spot."""
    before = len(anyio.get_running_tasks())

    @tool
    async def leave() -> str:
        raise SystemExit(3)

    agent = agent_of(leave, wait, script=[reply(*[call("leave")] * count), DONE])

    async def go() -> None:
        if not streamed:
            await agent.generate("Go.")
            return
        async with agent.stream("Go.") as stream:
            await stream.run()

    with pytest.raises(SystemExit):
        await go()

    assert len(anyio.get_running_tasks()) == before


# --- the journal ------------------------------------------------------------------------------


@final
class Diary:
    """A journal that suspends, tells what was first, and may refuse."""

    def __init__(self, *, fails_at: int | None = None) -> None:
        self.header: JournalHeader | None = None
        self.entries: list[JournalEntry] = []
        self.writing = 0
        self._fails_at = fails_at

    async def begin(self, header: JournalHeader, /) -> None:
        await anyio.lowlevel.checkpoint()
        self.header = header

    async def append(self, entry: JournalEntry, /) -> None:
        self.writing += 1
        assert self.writing == 1, "two entries are written at once"
        try:
            await anyio.sleep(0.001)
            if len(self.entries) == self._fails_at:
                msg = "the disk is full"
                raise OSError(msg)
            self.entries.append(entry)
        finally:
            self.writing -= 1

    def replayed(self, program: Program) -> LoopState:
        assert self.header is not None
        outcome = replay(program, self.header, self.entries)
        assert isinstance(outcome, Success), outcome
        return outcome.unwrap()


async def test_every_event_is_journaled_before_it_counts() -> None:
    """Replaying what was written gives the state that was reached."""
    diary = Diary()
    agent = agent_of(
        wait,
        again,
        script=[calls_of("wait", 1, 2), reply(*calls_of("again", 3).content, "text"), DONE],
    )
    run = await agent.generate("Go.", journal=diary)

    assert diary.replayed(agent.program) == run.state
    assert [type(entry.event) for entry in diary.entries].count(ToolStarted) == 2


async def test_a_tool_that_must_not_run_twice_starts_in_the_journal_first() -> None:
    """When its code begins, its start is written down; idempotent tools need no entry."""
    diary = Diary()
    seen: dict[str, int] = {}

    def started() -> int:
        return sum(isinstance(entry.event, ToolStarted) for entry in diary.entries)

    @tool
    async def pay() -> str:
        seen["pay"] = started()
        return "paid"

    @tool(idempotent=True)
    async def look() -> str:
        seen["look"] = started()
        return "seen"

    script = [reply(call("pay")), reply(call("look")), DONE]
    await agent_of(pay, look, script=script).generate("Go.", journal=diary)

    assert seen == {"pay": 1, "look": 1}
    kinds = [type(entry.event) for entry in diary.entries]
    assert kinds.index(ToolStarted) < kinds.index(ToolReturned)


async def test_no_start_is_told_without_a_journal() -> None:
    """There is nothing to take a run up again from."""
    run = await agent_of(wait, script=[calls_of("wait", 1), DONE]).generate("Go.")

    assert isinstance(run.end, Completed)


@pytest.mark.parametrize("fails_at", range(8))
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_journal_that_fails_stops_the_run(fails_at: int, streamed: bool) -> None:
    """The event did not happen, its own error is raised, and nothing is left running."""
    before = len(anyio.get_running_tasks())
    diary = Diary(fails_at=fails_at)
    agent = agent_of(wait, script=[calls_of("wait", 1, 2, 3), DONE])

    async def go() -> None:
        if not streamed:
            await agent.generate("Go.", journal=diary)
            return
        async with agent.stream("Go.", journal=diary) as stream:
            async for _ in stream:
                pass

    with pytest.raises(OSError, match="the disk is full"):
        await go()

    assert len(diary.entries) == fails_at
    diary.replayed(agent.program)
    assert len(anyio.get_running_tasks()) == before


@pytest.mark.parametrize("fails_at", [0, 1, 2])
async def test_a_journal_that_fails_between_attempts_stops_a_stream(fails_at: int) -> None:
    """Also where the reader itself carries a command out; pulling again says it again."""
    diary = Diary(fails_at=fails_at)
    agent = Agent(model=ScriptedModel([OVERLOADED, DONE]))
    async with agent.stream("Go.", journal=diary, clock=VirtualClock()) as stream:
        for _ in range(2):
            with pytest.raises(OSError, match="the disk is full"):
                await stream.run()

    assert len(diary.entries) == fails_at


async def test_a_journal_that_does_not_begin_stops_the_run() -> None:
    """One journal holds one run."""
    journal = MemoryJournal()
    agent = Agent(model=ScriptedModel([DONE]))
    await agent.generate("Go.", journal=journal)
    with pytest.raises(UsageError, match="expected a new journal"):
        await agent.generate("Go.", journal=journal)


async def test_a_cancellation_waits_for_the_journal() -> None:
    """What was written counts: the state and the journal never differ."""
    diary = Diary()
    agent = agent_of(wait, script=[calls_of("wait", *range(5)), DONE])
    for delay in range(12):
        diary = Diary()
        with anyio.move_on_after(delay / 1000):
            await agent.generate("Go.", journal=diary, run_id="r")
        assert diary.writing == 0
        if diary.header is not None:
            diary.replayed(agent.program)


def test_a_journal_in_memory_holds_one_run() -> None:
    """It has nothing to tell before one has begun."""
    journal: Journal = MemoryJournal()
    assert isinstance(journal, MemoryJournal)
    assert journal.entries == ()
    with pytest.raises(UsageError, match="the journal is empty"):
        _ = journal.header


# --- by hand ----------------------------------------------------------------------------------


async def test_a_program_is_driven_without_an_agent() -> None:
    """`begin`, a runtime, and `drive`."""
    model = ScriptedModel([calls_of("wait", 1), DONE])
    program = Program(models=("scripted/model",), tools={"wait": wait.spec})
    first = begin(program, "Go.", run="r", seed=1, at=0)
    state = await drive(program, first, Runtime(models=[model], deps=None, tools=[wait]))

    assert state.steps[-1].text == "done"


@pytest.mark.parametrize(
    ("models", "tools", "text"),
    [
        ((), (wait,), "models: expected one named 'scripted/model', got: none"),
        (("scripted",), (again,), "tools: expected one named 'wait', got: again"),
    ],
)
async def test_a_runtime_has_what_the_program_names(
    models: Sequence[str], tools: Sequence[object], text: str
) -> None:
    """What lacks is said before the first command, also if it were needed much later."""
    program = Program(models=("scripted/model",), tools={"wait": wait.spec})
    first = begin(program, "Go.", run="r", seed=1, at=0)
    runtime = Runtime(
        models=[ScriptedModel([DONE]) for _ in models],
        deps=None,
        tools=[one for one in (wait, again) if one in tools],
    )
    with pytest.raises(UsageError, match=text):
        await drive(program, first, runtime)


async def test_a_pending_command_needs_its_tool_and_model() -> None:
    """Also where another program was to go on with the run."""
    program = Program(models=("scripted/model",), tools={"wait": wait.spec})
    first = begin(program, "Go.", run="r", seed=1, at=0)
    [command] = first.commands
    assert isinstance(command, CallModel)
    replied = step(
        program, first.state, ModelReplied(command.key, calls_of("wait", 1), 1, started=0)
    )
    other = Program(models=("scripted/other",))
    runtime = Runtime(models=[ScriptedModel([DONE], model_id="other")], deps=None, tools=[])
    with pytest.raises(UsageError, match="models: expected one named 'scripted/model'"):
        await drive(other, first, runtime)
    with pytest.raises(UsageError, match="tools: expected one named 'wait'"):
        await drive(other, replied, runtime)


async def test_hooks_are_answered_by_hand() -> None:
    """The driver has none, and says so rather than to hang."""
    program = Program(models=("scripted/model",), prepares=True)
    first = begin(program, "Go.", run="r", seed=1, at=0)
    runtime = Runtime(models=[ScriptedModel([DONE])], deps=None, tools=[])
    with pytest.raises(UsageError, match="PrepareStep"):
        await drive(program, first, runtime)


async def test_a_client_tool_needs_no_code_here() -> None:
    """The run rests until the client has answered."""
    definition = ToolDefinition("ask", "", wait.input_schema)
    spec = type(wait.spec)(definition=definition, check=wait.spec.check, executes=False)
    program = Program(models=("scripted/model",), tools={"ask": spec})
    first = begin(program, "Go.", run="r", seed=1, at=0)
    model = ScriptedModel([calls_of("ask", 1), DONE])
    state = await drive(program, first, Runtime(models=[model], deps=None, tools=[]))

    assert len(open_requests(state)) == 1


async def test_a_run_that_is_at_rest_owes_nothing() -> None:
    """Driving it again changes nothing."""

    @tool(needs_approval=True)
    async def pay() -> str:
        return "paid"

    agent = agent_of(pay)
    run = await agent.generate("Go.")

    assert isinstance(run.end, Blocked)
    assert (await agent.answer(run, [])).state == run.state


# --- what commands lead to --------------------------------------------------------------------


async def test_history_is_in_call_order_whoever_ends_first() -> None:
    """Completion order is seen in the stream, and nowhere else."""
    gates = [anyio.Event() for _ in range(4)]

    @tool
    async def turn(number: int) -> int:
        await gates[number].wait()
        if number:
            gates[number - 1].set()
        return number

    gates[3].set()
    run = await agent_of(turn, script=[calls_of("turn", 0, 1, 2, 3), DONE]).generate("Go.")

    assert run.results_of(turn) == (0, 1, 2, 3)
    assert [part.json.text for part in settled(run) if hasattr(part, "json")] == list("0123")


async def test_a_stop_after_tools_ends_the_run() -> None:
    """The last worker's event may be the end."""
    for numbers in ((1,), (1, 2, 3)):
        agent = Agent(
            model=ScriptedModel([calls_of("wait", *numbers)]),
            tools=[wait],
            stop_when=is_step_count(1),
        )
        run = await agent.generate("Go.")

        assert isinstance(run.end, Stopped)
        assert run.results_of(wait) == numbers
