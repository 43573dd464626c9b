"""What leaves says nothing of what was said, and cannot be taken for the whole."""

from pathlib import Path

import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import FileStore, MemoryStore, page_of
from stepfold.ports import JournalError
from stepfold.testing import ScriptedModel, call, reply
from tests.durable._runs import agent_of

SECRET = "hunter2"


@sf.tool(needs_approval=True)
def tell(what: str) -> dict[str, str]:
    """Tell something."""
    if what.endswith("!"):
        raise sf.ToolFault(f"not {what}")
    return {"told": what}


async def secretive() -> durable.Recording:
    """A run in which a secret is everywhere."""
    script = [
        reply(
            f"I know {SECRET}.",
            sf.Reasoning(f"it is {SECRET}"),
            sf.File(f"{SECRET}".encode() * 100, "text/plain"),
            call(tell, {"what": SECRET}),
            call(tell, {"what": f"{SECRET}!"}),
        ),
        reply(f"It was {SECRET}. " * 500),
    ]
    agent = sf.Agent(model=ScriptedModel(script, by_step=True), tools=[tell])
    store = MemoryStore()
    run = await durable.run(agent, store, f"My password is {SECRET}.", run_id="r")
    answers = [sf.approve(request, reason=SECRET) for request in run.open_approvals]
    await durable.answer(agent, store, "r", answers)
    return (await durable.recording_of(store, "r")).unwrap()


async def test_nothing_that_was_said_is_left(tmp_path: Path) -> None:
    recording = await secretive()
    durable.write_recording(recording, tmp_path / "whole.jsonl")
    cut = durable.redacted(recording)
    durable.write_recording(cut, tmp_path / "cut.jsonl")
    read = durable.read_recording(tmp_path / "cut.jsonl").unwrap()
    whole = durable.read_recording(tmp_path / "whole.jsonl").unwrap()

    assert SECRET in (tmp_path / "whole.jsonl").read_text("utf-8")
    assert SECRET not in (tmp_path / "cut.jsonl").read_text("utf-8")
    assert SECRET in page_of(recording)
    assert SECRET not in page_of(cut)
    assert (read.header, read.records, read.redacted) == (cut.header, cut.records, True)
    assert whole.records == recording.records


async def test_what_happened_stays() -> None:
    recording = await secretive()
    cut = durable.redacted(recording)
    one, two = recording.snapshot, cut.snapshot
    assert one is not None
    assert two is not None

    assert (two.usage, two.ledger, two.now) == (one.usage, one.ledger, one.now)
    assert [entry.commands for entry in cut.entries] == [
        entry.commands for entry in recording.entries
    ]
    assert [
        (span.kind, span.name, span.started, span.ended, span.end) for span in durable.spans_of(cut)
    ] == [
        (span.kind, span.name, span.started, span.ended, span.end)
        for span in durable.spans_of(recording)
    ]
    assert two.steps[0].text == '"[15 characters]"'


async def test_words_of_ones_own_can_stand_there() -> None:
    cut = durable.redacted(await secretive(), lambda text: "0")

    assert {step.text for step in cut.steps} == {"0"}


async def test_it_can_be_neither_replayed_nor_resumed(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    async with durable.record(tmp_path / "whole.jsonl") as journal:
        await agent_of().generate("Go", journal=journal, run_id="r")
    recording = durable.read_recording(tmp_path / "whole.jsonl").unwrap()
    durable.write_recording(durable.redacted(recording), store.path_of("r"))
    cut = durable.read_recording(store.path_of("r")).unwrap()

    assert (
        durable.replayed(agent_of().program, cut).failure().got.startswith("one exported redacted")
    )
    with pytest.raises(JournalError, match="without what was said"):
        await durable.resume(agent_of(), store, "r")
