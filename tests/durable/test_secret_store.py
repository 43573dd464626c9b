"""Known secrets stand in a journal by name, and are put back where their store is given."""

from pathlib import Path

import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import FileStore, MemoryStore, Seal, SecretStore
from stepfold.ports import JournalError
from stepfold.testing import ScriptedModel, call, reply

TOKEN = 'tok"en-1234'
KNOWN = SecretStore({"registry": TOKEN})


@sf.tool(needs_approval=True)
def log_in(token: str) -> dict[str, str]:
    """Log in."""
    return {"token": token}


def agent() -> sf.Agent[object, str]:
    script = [reply(call(log_in, {"token": TOKEN})), reply(f"{TOKEN} " * 600)]
    return sf.Agent(model=ScriptedModel(script, by_step=True), tools=[log_in])


async def test_a_run_goes_on_with_its_secrets_and_keeps_none(tmp_path: Path) -> None:
    """In prompts, arguments, results and big texts; an approval holds for the real arguments."""
    store = FileStore(tmp_path)
    blocked = await durable.run(agent(), store, f"Use {TOKEN}.", run_id="r", seal=KNOWN)
    answers = [sf.approve(request) for request in blocked.open_approvals]
    run = await durable.answer(agent(), store, "r", answers, seal=KNOWN)
    kept = store.path_of("r").read_text("utf-8")

    assert run.results_of(log_in) == ({"token": TOKEN},)
    assert run.text.startswith(TOKEN)
    assert "en-1234" not in kept
    assert "<secret:1:registry>" in kept
    recording = durable.read_recording(store.path_of("r"), seal=KNOWN).unwrap()
    assert durable.replayed(agent().program, recording).unwrap().messages == run.messages


async def test_without_its_secrets_a_run_can_be_looked_at_and_goes_no_further(
    tmp_path: Path,
) -> None:
    store = FileStore(tmp_path)
    await durable.run(agent(), store, f"Use {TOKEN}.", run_id="r", seal=KNOWN)
    recording = durable.read_recording(store.path_of("r")).unwrap()

    assert recording.redacted
    assert recording.header.messages == (sf.UserMessage("Use <secret:1:registry>."),)
    assert "without its secrets" in durable.replayed(agent().program, recording).failure().got
    with pytest.raises(JournalError, match="give the SecretStore that has them"):
        await durable.resume(agent(), store, "r")


async def test_a_secret_that_is_missing_is_named(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    await durable.run(agent(), store, f"Use {TOKEN}.", run_id="r", seal=KNOWN)
    other = SecretStore({"another": "something else"})
    fault = durable.read_recording(store.path_of("r"), seal=other).failure()

    assert "expected the secret 'registry' in the SecretStore" in fault.message


async def test_a_seal_closes_what_refers_to_secrets() -> None:
    flipped = Seal(lambda data: data[::-1], lambda data: data[::-1])
    both = SecretStore({"registry": TOKEN}, seal=flipped)
    store = MemoryStore()
    await durable.run(agent(), store, f"Use {TOKEN}.", run_id="r", seal=both)
    stored = (await store.read("r")).unwrap()

    assert not any(b"registry" in record for record in stored.records)
    opened = (await durable.recording_of(store, "r", seal=flipped)).unwrap()
    assert opened.redacted
    whole = (await durable.recording_of(store, "r", seal=both)).unwrap()
    assert whole.header.messages == (sf.UserMessage(f"Use {TOKEN}."),)


async def test_a_journal_that_was_begun_without_secrets_goes_on_with_them(tmp_path: Path) -> None:
    """What looks like a reference in it is what somebody wrote."""
    store = FileStore(tmp_path)
    said = "Say <secret:1:registry>, <secret:> and <secret:."
    blocked = await durable.run(agent(), store, said, run_id="r")
    answers = [sf.approve(request) for request in blocked.open_approvals]
    run = await durable.answer(agent(), store, "r", answers, seal=KNOWN)
    recording = durable.read_recording(store.path_of("r"), seal=KNOWN).unwrap()

    assert recording.header.messages == (sf.UserMessage(said),)
    assert durable.replayed(agent().program, recording).unwrap().messages == run.messages


@pytest.mark.parametrize("start", ['{"secrets":1,"record":', '{"type":"sealed","data":"'])
async def test_a_big_text_that_looks_like_a_closed_one_is_what_was_said(start: str) -> None:
    """A tool's result cannot make its journal unreadable."""
    said = start + "x" * 3_000
    store = MemoryStore()
    model = ScriptedModel([reply(said)], by_step=True)
    await durable.run(sf.Agent(model=model), store, "Go", run_id="r")
    recording = (await durable.recording_of(store, "r")).unwrap()

    assert not recording.redacted
    assert recording.steps[0].text == said


@pytest.mark.parametrize(
    ("secrets", "told"),
    [
        ({"a b": "long enough"}, "expected the name of a secret"),
        ({"": "long enough"}, "expected the name of a secret"),
        ({"short": "12345"}, "a text of at least 6 characters"),
        ({"torn": "\ud800 is no letter"}, "has a UTF-8 form"),
    ],
)
def test_what_cannot_be_found_again_is_refused(secrets: dict[str, str], told: str) -> None:
    with pytest.raises(sf.UsageError, match=told) as caught:
        SecretStore(secrets)

    assert not any(secret in str(caught.value) for secret in secrets.values())


def test_no_secret_is_shown() -> None:
    assert repr(KNOWN) == "SecretStore(names=('registry',))"
