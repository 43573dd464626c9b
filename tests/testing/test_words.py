"""What became of a run is told in few words."""

from pathlib import Path

import pytest
from attrs import evolve

from stepfold.codec import decode
from stepfold.loop.commands import ModelCallKey
from stepfold.loop.events import Event, ModelReplied
from stepfold.testing import call, reply
from stepfold.testing._words import words_of_event, words_of_message
from stepfold.values import Message, SystemMessage, UserMessage

CORPUS = Path(__file__).parents[1] / "data" / "codec" / "v1"


@pytest.mark.parametrize("line", (CORPUS / "events.jsonl").read_bytes().splitlines())
def test_events_of_every_kind_have_words(line: bytes) -> None:
    event = decode(line, Event).unwrap()

    name, _, said = words_of_event(event).partition(": ")
    assert name == type(event).__name__
    assert said


@pytest.mark.parametrize("line", (CORPUS / "messages.jsonl").read_bytes().splitlines())
def test_messages_of_every_kind_have_words(line: bytes) -> None:
    message = decode(line, Message).unwrap()

    who, _, said = words_of_message(message).partition(": ")
    assert who in {"system", "user", "assistant", "tool"}
    assert said


def test_a_reply_reads_as_it_was_said() -> None:
    said = reply("Let me see.", call("look", {"city": "Oslo"}, id="c1"), usage=(3, 4))
    event = ModelReplied(ModelCallKey(0, 0), said, 1, started=0)

    assert words_of_event(event) == (
        'ModelReplied: step 0: \'Let me see.\'; calls look({"city":"Oslo"}) [c1] '
        "(tool-calls, 3+4 tokens)"
    )


def test_long_words_are_cut() -> None:
    event = ModelReplied(ModelCallKey(0, 0), reply("x" * 1_000), 1, started=0)
    told = words_of_event(evolve(event, at=2))

    assert len(told) == 241
    assert told.endswith("…")


def test_nothing_is_told_as_well() -> None:
    assert words_of_message(UserMessage(())) == "user: nothing"
    assert words_of_message(SystemMessage("Be kind.")) == "system: 'Be kind.'"
