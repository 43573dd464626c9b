"""What Google really sent, where recordings of it are at hand."""

import json

from stepfold.providers import Endpoint
from stepfold.providers.google_generate import GoogleDialect, decode_reply, encode_request
from stepfold.values import AssistantMessage, ModelReply, ModelRequest, ToolError, UserMessage
from tests.providers.recordings import is_object, recorded, recordings


def sent_back(reply: ModelReply) -> list[object]:
    """The parts of the next request that say what this reply said."""
    content = [
        part
        for part in reply.content
        if not isinstance(part, ToolError) and not type(part).__name__.endswith("Source")
    ]
    message = AssistantMessage(content)  # type: ignore[arg-type]
    request = ModelRequest(messages=(UserMessage("Hi"), message, UserMessage("Go on")))
    endpoint = Endpoint(model_id="m", base_url="http://x", dialect=GoogleDialect())
    call = encode_request(request, endpoint)
    assert call.warnings == ()
    turns = json.loads(call.request.body)["contents"]
    return next((turn["parts"] for turn in turns if turn["role"] == "model"), [])


def comparable(part: dict[str, object]) -> dict[str, object]:
    """A part without the id of a call, which is ours where the server gives none."""
    call = part.get("functionCall")
    if not is_object(call):
        return part
    return {**part, "functionCall": {name: call[name] for name in ("name", "args") if name in call}}


@recorded
def test_bodies_go_back_as_they_came() -> None:
    for body in recordings("google-generate", "body"):
        reply = decode_reply(body.data, "google").unwrap()
        content = json.loads(body.data)["candidates"][0].get("content", {})
        came = [comparable(part) for part in content.get("parts", [])]
        texts = [part for part in came if set(part) <= {"text"}]
        if len(texts) <= 1:  # neighbours without a signature are one text here
            sent = [comparable(part) for part in sent_back(reply) if is_object(part)]
            assert sent == came, body.name
