"""Requests of Cohere's own client, where recordings of them are at hand: ours say the same."""

import json
from pathlib import Path

from stepfold.providers import Endpoint
from stepfold.providers.cohere_chat import cohere_dialect, encode_request
from stepfold.values import (
    AssistantMessage,
    JsonText,
    Message,
    ModelRequest,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from tests.providers.recordings import FOLDER, recorded

SCENARIO = "pydantic/cassettes/test_tool_choice_matrix/test_tool_choice_matrix[auto-cohere].json"
CALL_ID = "get_weather_9gpb31r7h7mj"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = ToolDefinition(
    "get_weather", "Get the current weather for a city.", JsonText(json.dumps(SCHEMA))
)
TURN: tuple[Message, ...] = (
    UserMessage("What's the weather in Paris?"),
    AssistantMessage([ToolCall(CALL_ID, "get_weather", '{"city":"Paris"}')]),
    ToolMessage([ToolResult(CALL_ID, "get_weather", TextOutput("Sunny, 22C in Paris"))]),
)


@recorded
def test_a_call_and_its_result_are_said_as_the_official_client_says_them() -> None:
    exchanges = json.loads(Path(FOLDER, SCENARIO).read_text("utf-8"))["exchanges"]
    sent = [exchange["request"] for exchange in exchanges]
    model_id = "command-r7b-12-2024"
    endpoint = Endpoint(model_id=model_id, base_url="https://h", dialect=cohere_dialect(model_id))

    bodies = [
        json.loads(
            encode_request(ModelRequest(messages=messages, tools=(WEATHER,)), endpoint).request.body
        )
        for messages in (TURN[:1], TURN)
    ]

    assert bodies == sent[:2]
