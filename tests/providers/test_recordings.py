"""Every recording of real traffic becomes what the manifest says, however it is cut."""

import json
import os
import random
from typing import TypeAlias

import pytest

from stepfold.loop import fold_parts, parts_of
from stepfold.providers import protocol_named
from stepfold.providers._failures import reason_of_response
from stepfold.transport import HttpResponse
from stepfold.values import Failure, Finish, ModelReply, StreamError, StreamPart, Success
from tests.providers.recordings import (
    IS_HERE,
    MANIFEST,
    SPOKEN,
    Form,
    Recording,
    cut,
    decoded,
    manifest,
    recorded,
    recordings,
)

Line: TypeAlias = dict[str, str]

LINES: list[Line] = [json.loads(line) for line in MANIFEST.read_text("utf-8").splitlines()]
SPOKEN_KINDS = sorted(
    {(line["protocol"], line["form"]) for line in LINES if line.get("protocol") in SPOKEN}
)


def listed(protocol: str, form: Form) -> dict[str, str]:
    """What the manifest says of each recording of a kind."""
    return {
        line["recording"]: line["outcome"]
        for line in LINES
        if (line.get("protocol"), line.get("form")) == (protocol, form)
    }


def test_recordings_are_here_where_they_must_be() -> None:
    """CI says so: there, tests that are skipped unnoticed would prove nothing."""
    if os.environ.get("STEPFOLD_REQUIRE_RECORDINGS"):
        assert IS_HERE, "STEPFOLD_RECORDINGS names no folder of recordings"


@recorded
def test_the_manifest_says_of_every_file_what_it_is() -> None:
    assert MANIFEST.read_text("utf-8") == manifest(), (
        "run `python -m tests.providers.recordings`, and review what changed"
    )


def test_the_manifest_leaves_nothing_out_without_a_reason() -> None:
    for line in LINES:
        assert line.keys() <= {"recording", "protocol", "form", "outcome", "why", "out_of_scope"}
        assert bool(line.get("out_of_scope")) != bool(line.get("protocol")), line
        assert bool(line.get("why")) == (line.get("outcome") == "violation"), line


@recorded
@pytest.mark.parametrize("protocol", [name for name, form in SPOKEN_KINDS if form == "body"])
def test_a_body_becomes_what_the_manifest_says(protocol: str) -> None:
    found = {body.name: outcome_of_body(body) for body in recordings(protocol, "body")}

    assert found
    assert found == listed(protocol, "body")


def outcome_of_body(recording: Recording) -> str:
    """What a body becomes; a reply is the fold of its parts."""
    entry = protocol_named(recording.protocol)
    match entry.load().decode(recording.data, entry.provider):
        case Success(reply):
            assert recording.status < 400, recording.name
            assert fold_parts(parts_of(reply)) == reply, recording.name
            (body,) = recording.events()
            assert reply.finish_reason.raw == raw_finish(recording.protocol, body), recording.name
            is_told = reply.finish_reason.raw not in {"queued", "in_progress"}
            assert (reply.usage.output_tokens is not None) == is_told, recording.name
            return "reply"
        case Failure(reason):
            response = HttpResponse(recording.status, body=recording.data)
            told = reason_of_response(response, now=0)
            assert told.kind not in {"protocol", "unknown"}, recording.name
            assert told.message == reason.message, recording.name
            return "violation" if reason.kind == "protocol" else "error"


def raw_finish(protocol: str, body: object) -> object:
    """The word of the server for why a reply ends."""
    match protocol, body:
        case "anthropic-messages", {"stop_reason": word}:
            return word
        case "google-generate", {"candidates": [{"finishReason": word}, *_]}:
            return word
        case (("openai-chat" | "mistral-chat"), {"choices": [{"finish_reason": word}, *_]}):
            return word
        case "openai-responses", {"incomplete_details": {"reason": word}}:
            return word
        case "openai-responses", {"status": word}:
            return word
        case "bedrock-converse", {"stopReason": word}:
            return word
        case "cohere-chat", {"finish_reason": word}:
            return word
        case _:
            return None


@recorded
@pytest.mark.parametrize("protocol", [name for name, form in SPOKEN_KINDS if form == "stream"])
def test_a_stream_becomes_what_the_manifest_says_however_it_is_cut(protocol: str) -> None:
    chance = random.Random(7)
    found: dict[str, str] = {}
    for stream in recordings(protocol, "stream"):
        parts = decoded(stream, [stream.data])
        found[stream.name] = outcome_of_stream(parts)
        for pieces in (3, 100):
            assert decoded(stream, cut(stream.data, chance, pieces)) == parts, stream.name

    assert found
    assert found == listed(protocol, "stream")


def outcome_of_stream(parts: list[StreamPart]) -> str:
    """What a stream becomes; its reply is the fold of the reply's own parts."""
    match parts[-1]:
        case StreamError(reason):
            return "violation" if reason.kind == "protocol" else "error"
        case last:
            assert isinstance(last, Finish), last
            reply: ModelReply = fold_parts(parts)
            assert fold_parts(parts_of(reply)) == reply
            return "reply"
