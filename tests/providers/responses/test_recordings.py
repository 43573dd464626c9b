"""A recorded stream of the Responses protocol is the response of its own terminal event."""

import json

from stepfold.loop import fold_parts
from stepfold.providers.responses import decode_reply
from stepfold.values import JsonText, ModelReply, Text, ToolCall
from tests.providers.recordings import SHORTENED, Json, decoded, recorded, recordings

# What a server writes anew in each event: ids, and sealed content.
RENEWED = {"item_id", "id", "encrypted_content"}


def comparable(reply: ModelReply) -> list[tuple[object, ...]]:
    """What a reply says, without what servers write anew in each event."""
    said: list[tuple[object, ...]] = []
    for part in reply.content:
        text = part.text if isinstance(part, Text) else ""
        called = (part.tool_name, part.input) if isinstance(part, ToolCall) else ()
        kept = None if part.provider_options is None else settled(part.provider_options)
        said.append((type(part), text, called, kept))
    return said


def settled(options: JsonText) -> object:
    def without(value: object) -> object:
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k not in RENEWED}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(json.loads(options.text))


@recorded
def test_every_stream_is_the_response_of_its_terminal_event() -> None:
    for stream in recordings("openai-responses", "stream"):
        if stream.expected != "reply":
            continue
        reply = fold_parts(decoded(stream, [stream.data]))
        *_, last = (event for event in stream.events() if "output" in of_response(event))
        whole = decode_reply(json.dumps(of_response(last)).encode(), "openai").unwrap()
        if stream.file not in SHORTENED:
            assert comparable(reply) == comparable(whole), stream.name
        assert reply.usage == whole.usage
        assert reply.finish_reason == whole.finish_reason
        assert reply.response == whole.response


def of_response(event: Json) -> Json:
    response = event.get("response")
    return response if isinstance(response, dict) else {}
