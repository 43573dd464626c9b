"""Law 12 in journals without secrets: what is put back is what was written, byte for byte."""

import json
import re

import anyio
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import stepfold as sf
from stepfold import durable
from stepfold.durable import MemoryStore, SecretStore
from stepfold.durable._sealed import sealed, unsealed
from stepfold.durable._secret_store import refers
from stepfold.ports import JournalError
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import dump_tree

SECRETS = st.text(st.characters(codec="utf-8"), min_size=6, max_size=12) | st.sampled_from(
    (
        'pass"word',
        "back\\slash\\n",
        "zero\x00byte",
        "Wörter→",
        "</secret>",
        "token-token",
        "000000",
        "\\bcdefg",
        "secret\\",
    )
)
STORES = st.dictionaries(st.from_regex(r"[a-zA-Z0-9_.-]{1,4}", fullmatch=True), SECRETS, max_size=3)


def _nested(text: str, depth: int, *, is_ascii: bool) -> str:
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=is_ascii)
    return text


@given(st.data(), STORES, st.integers(0, 4), st.booleans(), st.booleans())
def test_what_is_put_back_is_what_was_written(
    data: st.DataObject, known: dict[str, str], depth: int, is_ascii: bool, is_text: bool
) -> None:
    """For any text around secrets, JSON in JSON, and words that look like references."""
    pieces = st.text() | st.sampled_from(
        ("<secret:", "<secret:>", "<secret:0:a>", "<secret:1a:b>", *known.values())
    )
    said = _nested("".join(data.draw(st.lists(pieces, max_size=6))), depth, is_ascii=is_ascii)
    if not is_text:
        said = dump_tree({"at": 1_700_000_000_000_000_000, "said": [said, said]})
    store = SecretStore(known)
    try:
        written = said.encode()
    except UnicodeEncodeError:
        assume(False)
    kept = sealed(store, written, is_text=is_text)

    assert refers(kept)
    assert unsealed(store, kept).unwrap() == written
    if not is_text:
        json.loads(kept)


@given(SECRETS, st.integers(0, 4), st.booleans())
def test_no_spelling_of_a_secret_is_left(secret: str, depth: int, is_ascii: bool) -> None:
    assume(not any(secret in it for it in ("<secret:", '{"secrets":1,"record":')))
    said = _nested(secret, depth, is_ascii=is_ascii).encode()
    kept = sealed(SecretStore({"n": secret}), said, is_text=True)

    assert b"<secret:" in kept
    assert said[depth and 1 : -1 if depth else None] not in kept


@sf.tool
def echo(what: str) -> dict[str, str]:
    """Say it again."""
    return {"said": what}


@given(SECRETS, st.integers(1, 600))
def test_a_run_with_secrets_is_replayed_exactly(secret: str, often: int) -> None:
    """With the secrets; without them it can be looked at, and goes no further."""
    assume(not any(secret in it for it in ("<secret:", '{"secrets":1,"record":')))
    script = [
        reply(f"I know {secret}.", call(echo, {"what": secret})),
        reply(f"It was {secret}. " * often),
    ]
    agent = sf.Agent(model=ScriptedModel(script, by_step=True), tools=[echo])
    known = SecretStore({"password": secret})

    async def keep() -> None:
        store = MemoryStore()
        run = await durable.run(agent, store, f"It is {secret}.", run_id="r", seal=known)
        recording = (await durable.recording_of(store, "r", seal=known)).unwrap()
        bare = (await durable.recording_of(store, "r")).unwrap()
        stored = (await store.read("r")).unwrap()
        kept = b"".join((*stored.records, *stored.payloads.values())).decode()
        texts = "".join(it for it in re.findall(r'"(?:[^"\\]|\\.)*":?', kept) if it[-1] != ":")
        spelled = (json.dumps(secret, ensure_ascii=it)[1:-1] for it in (True, False))

        assert durable.replayed(agent.program, recording).unwrap().messages == run.messages
        assert bare.redacted
        assert not any(it in texts for it in spelled)
        assert isinstance(durable.replayed(agent.program, bare).failure(), sf.loop.Diverged)
        with pytest.raises(JournalError, match="SecretStore"):
            await durable.resume(agent, store, "r")

    anyio.run(keep)
