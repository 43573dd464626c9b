"""`inspect`, `replay`, `fork` and `view`, on the journal of a run that was there."""

from pathlib import Path

import anyio
import pytest

import stepfold as sf
from stepfold import durable
from tests.cli._desk import Command

SHOP = '''
import stepfold as sf
from stepfold import durable
from stepfold.testing import ScriptedModel, call, reply


@sf.tool(idempotent=True)
def stock(item: str) -> int:
    """Say how many there are."""
    return 3


@sf.tool
def order(item: str) -> str:
    """Order."""
    raise sf.ToolFault("sold out")


model = ScriptedModel(
    [
        reply("Let me see.", call(stock, {"item": "nails"}), call(order, {"item": "glue"})),
        reply("Three nails, no glue."),
    ],
    by_step=True,
)
prices = {"scripted/model": sf.Price(input=1_000_000, output=1_000_000)}
agent = sf.Agent(model=model, tools=[stock, order], prices=prices)
program = agent.program
hasty = sf.Agent(model=model, tools=[stock, order], stop_when=sf.is_step_count(1))
store = durable.FileStore("runs")


@sf.tool(idempotent=True, grant=sf.Limits(tokens=500, tool_calls=2))
async def ask(context: sf.ToolContext[object]) -> str:
    """Ask somebody else."""
    run = await durable.run(agent, store, "What is left?", parent=context)
    return run.unwrap()


boss = sf.Agent(
    model=ScriptedModel([reply(call(ask)), reply("I see.")], by_step=True), tools=[ask]
)
'''


@pytest.fixture
def journal(desk: Path) -> str:
    """Record a run in the folder that the commands look into."""
    (desk / "shop.py").write_text(SHOP, "utf-8")
    space: dict[str, object] = {}
    exec(SHOP, space)
    agent = space["agent"]
    assert isinstance(agent, sf.Agent)

    async def record() -> None:
        await durable.run(agent, durable.FileStore("runs"), "What is left?", run_id="r-1")

    anyio.run(record)
    return "runs/r-1.jsonl"


def test_inspect_shows_steps_without_a_program(stepfold: Command, journal: str) -> None:
    done = stepfold("inspect", journal)

    assert done.code == 0
    assert "run r-1  completed, 6 records" in done.out
    [first] = [line for line in done.out.splitlines() if line.startswith("1 ")]
    assert "text 11, stock " in first
    assert "order " in first
    assert "(failed)" in first
    assert "0.000015" in first
    assert "all" in done.out


def test_inspect_shows_every_event(stepfold: Command, journal: str) -> None:
    done = stepfold("inspect", journal, "--events")

    lines = done.out.splitlines()
    [head] = [place for place, line in enumerate(lines) if line.split()[:2] == ["n", "event"]]
    shown = [line.split()[:2] for line in lines[head + 1 :]]
    assert shown[0] == ["1", "began"]
    assert [number for number, *_ in shown] == [str(number) for number in range(1, 7)]
    assert 'scripted/model: Let me see.; stock(item="nails"); order(item="glue")' in done.out
    assert "order: sold out" in done.out


@pytest.mark.parametrize("name", ["agent", "program"])
def test_replay_says_that_all_is_the_same(stepfold: Command, journal: str, name: str) -> None:
    done = stepfold("replay", journal, "--program", f"shop:{name}")

    assert (done.code, done.out) == (0, "the same: 5 events, 2 steps, completed\n")


def test_replay_shows_where_a_program_parts(stepfold: Command, journal: str) -> None:
    refused = stepfold("replay", journal, "--program", "shop:hasty")
    parted = stepfold("replay", journal, "--program", "shop:hasty", "--allow-other")

    assert refused.code == parted.code == 1
    assert "diverged at the beginning" in refused.out
    assert "--allow-other" in refused.out
    assert parted.out == "diverged at record 5, ToolReturned\n- CallModel/1/0\n+ nothing\n"


def test_a_run_of_a_tool_call_is_replayed_with_its_plain_agent(
    stepfold: Command, journal: str
) -> None:
    """What its call was granted is in its file, and `inspect` shows it."""
    space: dict[str, object] = {}
    exec(Path("shop.py").read_text("utf-8"), space)
    boss, store = space["boss"], space["store"]
    assert isinstance(boss, sf.Agent)
    assert isinstance(store, durable.FileStore)

    async def record() -> None:
        await durable.run(boss, store, "Go", run_id="r-2")

    anyio.run(record)
    path = str(store.path_of("r-2/0/0"))

    done = stepfold("replay", path, "--program", "shop:agent")
    assert (done.code, done.out) == (0, "the same: 5 events, 2 steps, completed\n")
    assert "granted by a tool call: tokens=500, tool_calls=2" in stepfold("inspect", path).out
    assert "granted" not in stepfold("inspect", journal).out


def test_fork_writes_a_run_that_can_go_on(stepfold: Command, journal: str) -> None:
    done = stepfold("fork", journal, "--at", "3", "--program", "shop:agent", "--run", "other")

    assert done.code == 0
    assert "the run other, from record 3 of r-1" in done.out
    inspected = stepfold("inspect", "runs/other.jsonl", "--events")
    assert "a fork of r-1 after record 3" in inspected.out
    assert "from here on it is other" in inspected.out
    again = stepfold("fork", journal, "--at", "3", "--program", "shop:agent", "--run", "other")
    assert again.code == 2
    assert "exists already" in again.err


def test_view_writes_a_page(stepfold: Command, journal: str) -> None:
    done = stepfold("view", journal, "--program", "shop:agent")
    page = Path("r-1.html").read_text("utf-8")

    assert done.code == 0
    assert "r-1.html" in done.out
    assert page.startswith("<!DOCTYPE html>")
    assert "Three nails, no glue." in page
    assert "2 · ModelReplied" in page
    parted = stepfold("view", journal, "--program", "shop:hasty", "-o", "other.html")
    assert parted.code == 1
    assert "at record 5" in parted.err
    assert Path("other.html").exists()


def test_what_was_said_can_be_kept_back(stepfold: Command, journal: str) -> None:
    inspected = stepfold("inspect", journal, "--events", "--redact")
    stepfold("view", journal, "--redact", "-o", "page.html")
    done = stepfold("redact", journal, "cut.jsonl")
    shown = stepfold("inspect", "cut.jsonl", "--events")

    assert done.code == 0
    for text in (
        inspected.out,
        Path("page.html").read_text("utf-8"),
        Path("cut.jsonl").read_text("utf-8"),
    ):
        assert "nails" not in text
        assert "stock" in text
    assert "redacted, or without its secrets" in shown.out
    assert stepfold("replay", "cut.jsonl", "--program", "shop:agent").code == 1
    again = stepfold("redact", journal, "cut.jsonl")
    assert (again.code, "exists already" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("inspect", "none"), "there is no file none"),
        (("inspect", "shop.py"), "is damaged"),
        (("inspect", "runs"), "cannot read runs"),
        (("replay", "runs/r-1.jsonl", "--program", "shop:model"), "expected an Agent or a Program"),
        (("replay", "runs/r-1.jsonl", "--program", "shop:none"), "has no 'none'"),
        (("fork", "runs/r-1.jsonl", "--at", "9", "--program", "shop:agent"), "from 1 to 6"),
        (("fork", "runs/r-1.jsonl", "--at", "6", "--program", "shop:agent"), "has ended there"),
        (("view", "runs/r-1.jsonl", "-o", "no/where.html"), "cannot write no/where.html"),
        (("view", "runs/r-1.jsonl", "--redact", "--program", "shop:agent"), "no --program"),
        (("redact", "runs/r-1.jsonl", "no/where.jsonl"), "cannot write no/where.jsonl"),
    ],
)
def test_mistakes_are_told(
    stepfold: Command, journal: str, arguments: tuple[str, ...], said: str
) -> None:
    done = stepfold(*arguments)

    assert done.code == 2
    assert said in done.err.replace("\n", " ")
