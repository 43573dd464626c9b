"""Recordings in files: made beside any run, decided anew, and forked."""

import re
from pathlib import Path

import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import FileStore, MemoryStore, Seal
from stepfold.loop import Calling
from stepfold.ports import JournalConflict, JournalDamaged, JournalError, JournalMissing
from stepfold.testing import ScriptedModel, call, reply
from tests.durable._runs import agent_of, book, look


async def recorded(path: Path, agent: sf.Agent) -> sf.Run[str]:
    """Record one run."""
    async with durable.record(path) as journal:
        return await agent.generate("Go", journal=journal, run_id="r")


async def test_a_recording_is_read_and_decided_anew(tmp_path: Path) -> None:
    run = await recorded(tmp_path / "r.jsonl", agent_of())
    recording = durable.read_recording(tmp_path / "r.jsonl").unwrap()

    assert recording.run.run == "r"
    assert recording.snapshot == run.state
    assert recording.steps == run.steps
    assert durable.replayed(agent_of().program, recording).unwrap() == run.state


async def test_a_run_that_fails_is_recorded_as_well(tmp_path: Path) -> None:
    agent = sf.Agent(model=ScriptedModel([sf.ModelErrorReason("quota", "none left")]))
    with pytest.raises(sf.RunFailed):
        await recorded(tmp_path / "r.jsonl", agent)

    assert durable.read_recording(tmp_path / "r.jsonl").unwrap().run.status == "failed"


async def test_a_changed_program_parts_from_the_recording_with_a_diff(tmp_path: Path) -> None:
    await recorded(tmp_path / "r.jsonl", agent_of())
    recording = durable.read_recording(tmp_path / "r.jsonl").unwrap()
    script = [reply("Done.")]
    changed = sf.Agent(
        model=ScriptedModel(script), tools=[look, book], stop_when=sf.is_step_count(2)
    ).program
    refused = durable.replayed(changed, recording).failure()
    parted = durable.replayed(changed, recording, allow_other_program=True).failure()

    assert refused.position == -1
    assert durable.explained(changed, recording, refused).startswith("at the beginning\n- ")
    told = durable.explained(changed, recording, parted)
    assert re.fullmatch(r"at record \d+, ToolReturned\n- CallModel/2/0\n\+ nothing", told), told


async def test_what_comes_instead_is_shown_in_full(tmp_path: Path) -> None:
    """Here one tool has come to need an approval, and the other runs as before."""
    await recorded(tmp_path / "r.jsonl", agent_of())
    recording = durable.read_recording(tmp_path / "r.jsonl").unwrap()

    @sf.tool(name="book", needs_approval=True)
    def careful(place: str) -> str:
        """Book something, but ask."""
        return place

    changed = sf.Agent(model=ScriptedModel([reply("")]), tools=[look, careful]).program
    parted = durable.replayed(changed, recording, allow_other_program=True).failure()
    told = durable.explained(changed, recording, parted).splitlines()

    assert told[0] == "at record 2, ModelReplied"
    assert told[1].startswith("  RunTool(key=CallKey(step=0, index=0, attempt=0), tool_name='look'")
    assert told[2:] == ["- RunTool/0/1/0"]


async def test_files_that_are_no_recordings_say_so(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("Hello\n")
    (tmp_path / "empty").write_text("")

    assert isinstance(durable.read_recording(tmp_path / "none").failure(), JournalMissing)
    assert isinstance(durable.read_recording(tmp_path / "text").failure(), JournalDamaged)
    assert "holds no run" in durable.read_recording(tmp_path / "empty").failure().message
    with pytest.raises(JournalError, match="cannot be reached"):
        durable.read_recording(tmp_path)
    with pytest.raises(JournalError, match="cannot be reached"):
        async with durable.record(tmp_path):
            pass


async def test_a_fork_has_names_of_its_own_and_may_go_on_otherwise() -> None:
    """From a step that came to rest, with another model and another tool, and a word from us."""
    store = MemoryStore()
    whole = await durable.run(agent_of(), store, "Go", run_id="whole")
    recording = (await durable.recording_of(store, "whole")).unwrap()
    [at, *_] = [
        number for number, state in recording.snapshots() if isinstance(state.phase, Calling)
    ]
    keys: list[str] = []

    @sf.tool
    def note(context: sf.ToolContext[object]) -> str:
        """Note where one is."""
        keys.append(context.idempotency_key)
        return "noted"

    script = [reply(call(note, {})), reply("Otherwise.")]
    other = sf.Agent(
        model=ScriptedModel(script, provider="other"), tools=[note], stop_when=sf.never
    )
    state = await durable.fork(other, store, "whole", "fork", at=at, say="Now note it.")
    run = await durable.resume(other, store, "fork")

    assert run.unwrap() == "Otherwise."
    assert keys == ["fork/1/0"]
    assert run.messages[: len(state.messages)] == state.messages
    assert state.messages[:-1] == whole.messages[: len(state.messages) - 1]
    assert [step.model for step in run.steps] == ["scripted/model", "other/model", "other/model"]
    forked = (await durable.recording_of(store, "fork")).unwrap()
    assert (forked.run.parent, forked.run.forked_at) == ("whole", at)
    assert forked.snapshot == run.state
    assert (await store.read("whole")).unwrap().run.version == recording.run.version


async def test_a_fork_goes_on_from_other_messages(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    await durable.run(agent_of(), store, "Go", run_id="whole")
    recording = (await durable.recording_of(store, "whole")).unwrap()
    [at, *_] = [
        number for number, state in recording.snapshots() if isinstance(state.phase, Calling)
    ]
    told = (sf.UserMessage("Stay"), sf.AssistantMessage("Here?"))

    state = await durable.fork(
        agent_of(), store, "whole", "fork", at=at, messages=told, say="Go after all."
    )
    run = await durable.resume(agent_of(), store, "fork")

    assert state.messages == (*told, sf.UserMessage("Go after all."))
    assert run.messages[:3] == state.messages
    assert run.text == "Done."
    replayed = durable.replayed(
        agent_of().program, (await durable.recording_of(store, "fork")).unwrap()
    )
    assert replayed.unwrap() == run.state
    for messages in ((), run.messages[-2:-1]):
        with pytest.raises(sf.UsageError, match="expected messages that can be sent"):
            await durable.fork(agent_of(), store, "whole", "bad", at=at, messages=messages)
    with pytest.raises(sf.UsageError, match="calls are at work"):
        await durable.fork(agent_of(), store, "whole", "bad", at=2, messages=told)


async def test_a_fork_from_any_record_ends_as_the_run_did(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    whole = await durable.run(agent_of(), store, "Go", run_id="whole")
    for at in range(1, (await store.read("whole")).unwrap().run.version):
        path = durable.fork_recording(agent_of(), store.path_of("whole"), f"f{at}", at=at)
        run = await durable.resume(agent_of(), store, f"f{at}")

        assert path == store.path_of(f"f{at}")
        assert (run.id, run.text, len(run.steps)) == (f"f{at}", "Done.", len(whole.steps))
        found = durable.read_recording(path).unwrap()
        assert durable.replayed(agent_of().program, found).unwrap() == run.state


async def test_forks_that_cannot_be_are_refused(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    await durable.run(agent_of(), store, "Go", run_id="whole")
    version = (await store.read("whole")).unwrap().run.version
    agent, path = agent_of(), store.path_of("whole")
    with pytest.raises(sf.UsageError, match="has ended there"):
        await durable.fork(agent, store, "whole", "f", at=version)
    with pytest.raises(sf.UsageError, match="calls are at work"):
        await durable.fork(agent, store, "whole", "f", at=2, say="Wait.")
    other = sf.Agent(model=ScriptedModel([reply("")]), tools=[look])
    with pytest.raises(sf.UsageError, match="decides otherwise"):
        durable.fork_recording(other, path, "f", at=2)
    for at in (0, version + 1):
        with pytest.raises(JournalError) as caught:
            await durable.fork(agent, store, "whole", "f", at=at)
        assert caught.value.fault == JournalConflict("whole", at, version)
        with pytest.raises(JournalError):
            durable.fork_recording(agent, path, "f", at=at)
    with pytest.raises(JournalError, match="no run 'none'"):
        await durable.fork(agent, store, "none", "f", at=1)
    with pytest.raises(JournalError, match="no run"):
        durable.fork_recording(agent, tmp_path / "none", "f", at=1)
    await durable.fork(agent, store, "whole", "f", at=2)
    with pytest.raises(JournalError, match="exists already"):
        await durable.fork(agent, store, "whole", "f", at=2)
    with pytest.raises(JournalError, match="exists already"):
        durable.fork_recording(agent, path, "f", at=2)


async def test_a_sealed_recording_can_be_forked(tmp_path: Path) -> None:
    seal = Seal(lambda data: data[::-1], lambda data: data[::-1])
    store = FileStore(tmp_path)
    await durable.run(agent_of(), store, "Go", run_id="whole", seal=seal)
    await durable.fork(agent_of(), store, "whole", "f", at=4, seal=seal)

    assert (await durable.resume(agent_of(), store, "f", seal=seal)).unwrap() == "Done."
