"""Agents, models and routes in pipelines that are kept in a journal."""

import json
from collections.abc import Sequence
from typing import final

import pytest
from attrs import frozen

import stepfold as sf
from stepfold.durable import MemoryStore
from stepfold.pipeline import AgentAsks, OpenInput, Verdict, notes, open_inputs
from stepfold.ports import JournalConflict, JournalError, JournalRecord, JournalUnavailable
from stepfold.testing import ScriptedModel, call, reply


@final
@frozen
class Told:
    why: str


@final
class Failing:
    """A store whose disk is full after so many records."""

    def __init__(self, left: int) -> None:
        store = MemoryStore()
        self.left = left
        self._append = store.append
        self.read = store.read
        self.list_runs = store.list_runs
        self.fork = store.fork
        self.delete = store.delete
        self.claim = store.claim
        self.renew = store.renew
        self.release = store.release

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> sf.Outcome[int, JournalConflict]:
        """Append a record, if there is room."""
        if self.left == 0:
            raise JournalError(JournalUnavailable(run, "the disk is full"))
        self.left -= 1
        return await self._append(run, record, expected=expected)


SENT: list[str] = []


@sf.tool(needs_approval=True)
def send(to: str) -> str:
    """Send it."""
    SENT.append(to)
    return f"sent to {to}"


@sf.client_tool
def locate(name: str) -> str:
    """Find out where somebody is."""
    raise NotImplementedError


@sf.tool(idempotent=True)
def look_up(word: str) -> int:
    """Look a word up."""
    return len(word)


def prompt_of(text: str) -> str:
    return text


@sf.stage
def shout(text: str) -> str:
    return text.upper()


def asking_model(tool: str, arguments: dict[str, str], tokens: int = 5) -> ScriptedModel:
    """Calls a tool first, and is content with whatever it gave; a function of the request alone."""

    def answer(request: sf.ModelRequest) -> sf.ModelReply:
        usage = sf.Usage(0, tokens)
        if isinstance(request.messages[-1], sf.ToolMessage):
            return reply("Done.", usage=usage)
        return reply(call(tool, arguments), usage=usage)

    return ScriptedModel([answer] * 40)


def approval_of(asks: object) -> dict[AgentAsks, sf.Answer]:
    """Yes, to one thing that is open."""
    assert isinstance(asks, AgentAsks)
    assert isinstance(asks.request, sf.OpenApproval)
    return {asks: sf.approve(asks.request)}


def mailing() -> sf.Stage[str, str, sf.RunFailed]:
    agent = sf.Agent(model=asking_model("send", {"to": "Ann"}), tools=[send])
    return sf.given(str).then(agent.stage(prompt_of).named("mail")).then(shout.idempotent())


async def killed_after(store: MemoryStore, records: int) -> MemoryStore:
    """The store of a run whose process ended after so many records."""
    left = MemoryStore()
    for version, data in enumerate((await store.read("r")).unwrap().records[:records]):
        await left.append("r", JournalRecord(data, 0, "running"), expected=version)
    return left


async def approved(
    pipeline: sf.Stage[str, object, object],
    run: sf.PipelineRun[object, object],
    store: MemoryStore,
) -> sf.PipelineRun[object, object]:
    """Approve of whatever is asked, one by one."""
    while isinstance(run.end, sf.Suspended):
        run = await pipeline.resume("r", approval_of(run.end.open[0]), journal=store)
    return run


# --- at rest ----------------------------------------------------------------------------------


async def test_an_agent_that_asks_suspends_the_pipeline() -> None:
    store = MemoryStore()

    run = await mailing().start("Write.", journal=store, run_id="r")

    assert isinstance(run.end, sf.Suspended)
    (asks,) = run.end.open
    assert isinstance(asks, AgentAsks)
    assert (asks.name, asks.question) == ("mail/prompt_of", 'May send run with {"to":"Ann"}?')
    assert asks.request.call.tool_call_id.startswith("r/0/")
    (stored,) = await store.list_runs()
    assert stored.status == "blocked"
    assert (await mailing().resume("r", journal=store)).end == run.end
    done = await mailing().resume("r", approval_of(asks), journal=store)
    assert done.end == sf.Finished(sf.Success("DONE."))
    assert (await mailing().resume("r", journal=store)).end == done.end


async def test_an_answer_may_be_given_by_the_name_of_the_stage() -> None:
    store = MemoryStore()
    run = await mailing().start("Write.", journal=store, run_id="r")
    assert isinstance(run.end, sf.Suspended)
    asks = run.end.open[0]
    assert isinstance(asks, AgentAsks)
    assert isinstance(asks.request, sf.OpenApproval)

    done = await mailing().resume("r", {"mail/prompt_of": sf.deny(asks.request)}, journal=store)

    assert done.end == sf.Finished(sf.Success("DONE."))


async def test_a_call_of_a_client_is_answered_by_its_result() -> None:
    store = MemoryStore()
    agent = sf.Agent(model=asking_model("locate", {"name": "Ann"}), tools=[locate])
    pipeline = sf.given(str).then(agent.stage(prompt_of))
    run = await pipeline.start("Where?", journal=store, run_id="r")
    assert isinstance(run.end, sf.Suspended)
    asks = run.end.open[0]
    assert isinstance(asks, AgentAsks)
    assert isinstance(asks.request, sf.OpenCall)
    assert asks.question == 'What does locate give for {"name":"Ann"}?'

    with pytest.raises(sf.UsageError, match="locate"):
        await pipeline.resume("r", {asks: sf.tool_output(asks.request, 3)}, journal=store)
    with pytest.raises(sf.UsageError, match="expected"):
        await pipeline.resume("r", {asks: "here"}, journal=store)
    assert isinstance((await pipeline.resume("r", journal=store)).end, sf.Suspended)
    done = await pipeline.resume("r", {asks: sf.tool_output(asks.request, "here")}, journal=store)

    assert done.end == sf.Finished(sf.Success("Done."))


async def test_siblings_of_an_agent_that_asks_stay_as_they_are() -> None:
    """Inputs and agents are open side by side, and each is answered when somebody does."""
    store, calls = MemoryStore(), list[str]()

    @sf.stage
    def noted(text: str) -> int:
        calls.append(text)
        return len(text)

    def pipeline() -> sf.Stage[str, tuple[str, int, int], sf.RunFailed]:
        figure = sf.await_input(int, name="figure", ask=prompt_of)
        return sf.given(str).parallel(mailing() & figure & noted)

    run = await pipeline().start("x", journal=store, run_id="r")
    assert isinstance(run.end, sf.Suspended)
    mail, figure = run.end.open
    assert isinstance(figure, OpenInput)
    run = await pipeline().resume("r", {figure: 3}, journal=store)
    assert isinstance(run.end, sf.Suspended)
    assert run.end.open == (mail,)
    run = await pipeline().resume("r", approval_of(mail), journal=store)

    assert run.end == sf.Finished(sf.Success(("DONE.", 3, 1)))
    assert calls == ["x"]


# --- crashes ----------------------------------------------------------------------------------


async def test_a_run_with_an_agent_that_was_killed_anywhere_ends_as_if_it_was_not() -> None:
    store = MemoryStore()
    run = await mailing().start("Write.", journal=store, run_id="r")
    undisturbed = await approved(mailing(), run, store)
    count = len((await store.read("r")).unwrap().records)

    sent: list[int] = []
    for records in range(1, count + 1):
        SENT.clear()
        left = await killed_after(store, records)
        resumed = await approved(mailing(), await mailing().resume("r", journal=left), left)
        assert resumed.end == undisturbed.end
        sent.append(len(SENT))
    texts = (await store.read("r")).unwrap().records
    begun = next(place for place, text in enumerate(texts) if b'"tool-started"' in text)
    assert sent == [1] * begun + [0] * (count - begun)  # nobody knows whether it was sent


async def test_a_model_is_not_asked_again_for_what_it_has_said() -> None:
    store = MemoryStore()
    agent = sf.Agent(model=asking_model("look_up", {"word": "x"}), tools=[look_up])
    pipeline = sf.given(str).then(agent.stage(prompt_of))
    await pipeline.start("Look it up.", journal=store, run_id="r")
    lines = [json.loads(it) for it in (await store.read("r")).unwrap().records]
    said = next(
        place + 1
        for place, line in enumerate(lines)
        if line.get("entry", {}).get("event", {}).get("type") == "model-replied"
    )

    model = asking_model("look_up", {"word": "x"})
    again = sf.Agent(model=model, tools=[look_up]).stage(prompt_of)
    run = await sf.given(str).then(again).resume("r", journal=await killed_after(store, said))

    assert run.end == sf.Finished(sf.Success("Done."))
    assert len(model.requests) == 1


async def test_another_agent_does_not_go_on_with_a_run() -> None:
    store = MemoryStore()
    await mailing().start("Write.", journal=store, run_id="r")
    other = sf.Agent(model=asking_model("send", {"to": "Ann"}), tools=[send, look_up])
    pipeline = sf.given(str).then(other.stage(prompt_of).named("mail")).then(shout.idempotent())

    with pytest.raises(sf.UsageError, match="was begun with another program"):
        await pipeline.resume("r", journal=store)
    await pipeline.fork("r", "again", journal=store, at="mail/prompt_of", given="Write!")
    forked = await pipeline.resume("again", journal=store)
    assert isinstance(forked.end, sf.Suspended)
    assert isinstance(forked.end.open[0], AgentAsks)
    assert forked.end.open[0].request.call.tool_call_id.startswith("again/0/")


async def test_replay_decides_the_runs_of_agents_too() -> None:
    store = MemoryStore()
    run = await mailing().start("Write.", journal=store, run_id="r")
    waiting = await mailing().replay("r", journal=store)
    assert isinstance(run.end, sf.Suspended)
    assert open_inputs(mailing().wiring, waiting.unwrap()) == run.end.open
    await approved(mailing(), run, store)

    done = await mailing().replay("r", journal=store)
    other = sf.Agent(model=asking_model("send", {"to": "Ann"}), tools=[send, look_up])
    pipeline = sf.given(str).then(other.stage(prompt_of).named("mail")).then(shout.idempotent())
    diverged = (await pipeline.replay("r", journal=store)).failure()

    assert done.unwrap().end == sf.Finished(sf.Success("DONE."))
    assert diverged.expected.startswith("the agent of mail/prompt_of, program: ")


# --- failures ---------------------------------------------------------------------------------


async def test_the_failure_of_an_agent_is_read_again_with_its_run() -> None:
    store = MemoryStore()
    refused = sf.ModelErrorReason("authentication", "no key")
    pipeline = sf.given(str).then(sf.Agent(model=ScriptedModel([refused])).stage(prompt_of))

    run = await pipeline.start("x", journal=store, run_id="r")
    again = await pipeline.resume("r", journal=store)

    for one in (run, again):
        assert isinstance(one.end, sf.Finished)
        failed = one.end.outcome.failure()
        assert isinstance(failed, sf.RunFailed)
        assert failed.error == refused
        assert failed.run.id == "r/0"
    assert str(run.end) == str(again.end)


async def test_a_failure_of_an_agent_can_be_caught_and_written() -> None:
    store = MemoryStore()

    def told(failed: sf.RunFailed) -> Told:
        return Told(str(failed))

    refused = sf.ModelErrorReason("authentication", "no key")
    agent = sf.Agent(model=ScriptedModel([refused]))
    pipeline = sf.given(str).then(agent.stage(prompt_of)).map_failure(told)

    run = await pipeline.start("x", journal=store, run_id="r")

    assert (await pipeline.resume("r", journal=store)).end == run.end
    assert isinstance(run.end, sf.Finished)
    assert "no key" in run.end.outcome.failure().why


# --- models, routes, plans and improvements ---------------------------------------------------


@final
@frozen
class Plan:
    words: list[str]


def words_of(plan: Plan) -> Sequence[str]:
    return plan.words


@sf.stage
def joined(answers: tuple[str, ...]) -> str:
    return " ".join(answers)


@sf.stage
def judge(draft: str) -> Verdict[str]:
    return sf.Accepted() if draft.endswith("!") else sf.Improve("Louder.")


def feedback_of(revision: sf.Revision[str, str]) -> str:
    return f"{revision.draft}: {revision.feedback}"


def echo(request: sf.ModelRequest) -> sf.ModelReply:
    message = request.messages[-1]
    assert isinstance(message, sf.UserMessage)
    text = message.content[0]
    assert isinstance(text, sf.Text)
    return reply(f"<{text.text.partition(':')[0]}>" + ("!" if ":" in text.text else ""))


async def test_everything_that_asks_models_may_be_kept() -> None:
    def choose(request: sf.ModelRequest) -> sf.ModelReply:
        return reply('{"result": "write"}')

    def plan(request: sf.ModelRequest) -> sf.ModelReply:
        return reply('{"words": ["a", "b"]}')

    def pipeline() -> sf.Stage[str, str, object]:
        planner = sf.model_stage(
            prompt_of, model=ScriptedModel([plan] * 9), output=sf.object_of(Plan)
        )
        worker = sf.Agent(model=ScriptedModel([echo] * 9)).stage(prompt_of)
        planned = sf.given(str).then(planner).map(words_of)
        writing = sf.orchestrate(planned, worker, joined, at_most=3)
        editor = sf.model_stage(feedback_of, model=ScriptedModel([echo] * 9))
        better = writing.improve_until_accepted(judge, editor, at_most=2)
        routes = sf.to("write", "when there is something to say", better) | sf.to(
            "shout", "otherwise", shout
        )
        routed = sf.route(routes, model=ScriptedModel([choose] * 9), prompt=prompt_of)
        return sf.given(str).then(routed).idempotent()

    store = MemoryStore()
    done = await pipeline().start("x", journal=store, run_id="r")
    assert done.end == sf.Finished(sf.Success("<<a> <b>>!"))

    count = len((await store.read("r")).unwrap().records)
    for records in range(1, count + 1):
        left = await killed_after(store, records)
        assert (await pipeline().resume("r", journal=left)).end == done.end


async def test_a_route_that_no_model_chose_is_read_again() -> None:
    store = MemoryStore()
    routes = sf.to("shout", "when it is quiet", shout) | sf.to("same", "otherwise", shout)
    routed = sf.route(routes, model=ScriptedModel([reply("nowhere")]), prompt=prompt_of)
    pipeline = sf.given(str).then(routed)

    run = await pipeline.start("x", journal=store, run_id="r")

    assert isinstance(run.end, sf.Finished)
    assert isinstance(run.end.outcome.failure(), sf.NotRouted)
    assert (await pipeline.resume("r", journal=store)).end == run.end


async def test_a_tool_is_a_stage_that_may_be_kept() -> None:
    store = MemoryStore()
    pipeline = sf.given(str).then(sf.stage(look_up))

    run = await pipeline.start("word", journal=store, run_id="r")

    assert run.end == sf.Finished(sf.Success(4))
    assert (await pipeline.resume("r", journal=store)).end == run.end


# --- budgets ----------------------------------------------------------------------------------


async def test_what_was_spent_before_a_crash_counts() -> None:
    """However often a run is taken up, its agents together keep within the limits of the start."""
    limits = sf.Limits(tokens=100, tool_calls=2)
    asked: list[int] = []

    def looking() -> sf.Stage[str, str, sf.RunFailed]:
        def answer(request: sf.ModelRequest) -> sf.ModelReply:
            asked.append(1)
            if isinstance(request.messages[-1], sf.ToolMessage):
                return reply("Done.", usage=sf.Usage(0, 20))
            return reply(call("look_up", {"word": "x"}), usage=sf.Usage(0, 20))

        agent = sf.Agent(model=ScriptedModel([answer] * 40), tools=[look_up])
        return agent.stage(prompt_of)

    def three() -> sf.Stage[str, str, sf.RunFailed]:
        return sf.given(str).then(looking()).then(looking()).then(looking())

    store = MemoryStore()
    run = await three().start("x", journal=store, run_id="r", limits=limits)
    assert isinstance(run.end, sf.Finished)
    assert isinstance(run.end.outcome.failure(), sf.RunFailed)
    records = (await store.read("r")).unwrap().records
    undisturbed = len(asked)

    for kept in range(1, len(records)):
        left = await killed_after(store, kept)
        said = sum(b'"model-replied"' in record for record in records[:kept])
        asked.clear()
        again = await three().resume("r", journal=left)
        assert isinstance(again.end, sf.Finished)
        assert isinstance(again.end.outcome.failure(), sf.RunFailed)
        assert said + len(asked) <= undisturbed + 1  # the call that was in flight is made again


async def test_limits_can_be_raised_when_a_run_is_taken_up() -> None:
    store = MemoryStore()

    def two() -> sf.Stage[str, str, sf.RunFailed]:
        return mailing().then(mailing())

    run = await two().start("x", journal=store, run_id="r", limits=sf.Limits(tokens=10))
    assert isinstance(run.end, sf.Suspended)
    answers = approval_of(run.end.open[0])

    left = await killed_after(store, 100)
    tight = await two().resume("r", answers, journal=left)
    wide = await two().resume("r", answers, journal=store, limits=sf.Limits(tokens=50))

    assert isinstance(tight.end, sf.Finished)
    assert isinstance(tight.end.outcome, sf.Failure)
    assert isinstance(wide.end, sf.Suspended)


# --- what does not fit ------------------------------------------------------------------------


async def test_an_answer_to_another_agent_is_refused() -> None:
    """Nothing has happened to the run then: it waits as before."""
    store = MemoryStore()

    def two() -> sf.Stage[str, tuple[str, str], sf.RunFailed]:
        return sf.given(str).parallel(mailing() & mailing())

    run = await two().start("x", journal=store, run_id="r")
    assert isinstance(run.end, sf.Suspended)
    first, second = run.end.open
    assert isinstance(first, AgentAsks)
    (answer,) = approval_of(second).values()

    with pytest.raises(sf.UsageError, match="expected an answer to a request of the run 'r/0"):
        await two().resume("r", {first: answer}, journal=store)
    assert (await two().resume("r", journal=store)).end == run.end
    with pytest.raises(sf.UsageError, match="2 open inputs are named 'mail/prompt_of'"):
        await two().resume("r", {first.name: answer}, journal=store)


async def test_a_journal_that_fails_while_an_agent_runs_is_no_defect_of_the_stage() -> None:
    """The run is not ended by it: once the store is there again it goes on."""
    store = Failing(3)

    with pytest.raises(JournalError, match="the disk is full"):
        await mailing().start("x", journal=store, run_id="r")
    store.left = 99
    run = await mailing().resume("r", journal=store)

    assert isinstance(run.end, sf.Suspended)


async def test_parts_are_told_in_a_journal_as_well() -> None:
    seen: list[notes.Note] = []

    run = await mailing().start(
        "x", journal=MemoryStore(), run_id="r", observers=[seen.append], parts=True
    )

    assert isinstance(run.end, sf.Suspended)
    assert any(isinstance(one, notes.AgentSaid) for one in seen)
    assert any(isinstance(one, notes.AgentRested) for one in seen)
