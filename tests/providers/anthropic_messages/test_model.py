import json
from pathlib import Path

import httpx
import pytest

import stepfold as sf
from stepfold.providers import HttpModel, MessagesModel, anthropic, resolve_model
from stepfold.values import UsageError
from tests.providers._served import KEY, REQUEST, Pieces, fold_of, served

SAMPLES = Path(__file__).parents[2] / "data" / "anthropic_messages"
STREAM = (SAMPLES / "thinking_and_calls.sse").read_bytes()
WHOLE = (SAMPLES / "thinking_and_calls.json").read_bytes()


def answer(request: httpx.Request) -> httpx.Response:
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.url == "http://x/v1/messages"
    headers = {"request-id": "r"}
    if json.loads(request.content).get("stream"):
        stream = Pieces(STREAM[:300], STREAM[300:])
        headers["content-type"] = "text/event-stream"
        return httpx.Response(200, headers=headers, stream=stream)
    return httpx.Response(200, content=WHOLE, headers=headers)


async def test_thoughts_and_calls_are_the_same_in_one_piece_and_streamed() -> None:
    model = anthropic("claude-sonnet-4-5", **served(answer, "http://x"))

    generated = await model.generate(REQUEST)

    assert generated == await fold_of(model)
    assert generated.response.headers == (("request-id", "r"),)


def test_key_and_address_come_from_the_arguments_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        anthropic("claude-opus-4-8")
    given = anthropic("claude-opus-4-8", api_key=f" {KEY}\n", headers={"X-A": "1"})
    assert given.endpoint.base_url == "https://api.anthropic.com/v1"
    assert given.endpoint.headers == (
        ("x-api-key", KEY),
        ("anthropic-version", "2023-06-01"),
        ("x-a", "1"),
    )
    assert given.endpoint.dialect.thinking == "adaptive"
    assert KEY not in repr(given.endpoint) + repr(given)

    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:1/v1/")
    named = resolve_model("anthropic/claude-opus-4-8")
    assert isinstance(named, HttpModel)
    assert named.endpoint.under("messages") == "http://localhost:1/v1/messages"
    with pytest.raises(UsageError, match="https://"):
        anthropic("claude-opus-4-8", base_url="localhost:1")


def scripted(*bodies: bytes) -> tuple[MessagesModel, list[dict[str, object]]]:
    """A model that gives these replies, and what it was sent."""
    left = list(bodies)
    sent: list[dict[str, object]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, content=left.pop(0))

    return anthropic("claude-sonnet-4-5", **served(reply, "http://x")), sent


def content_of(request: dict[str, object], turn: int) -> object:
    messages = request["messages"]
    assert isinstance(messages, list)
    content: object = messages[turn]["content"]
    return content


async def test_thoughts_and_calls_go_back_in_the_next_step() -> None:
    @sf.tool
    def weather(city: str) -> str:
        """Look up the weather."""
        return f"Snow in {city}"

    @sf.tool
    def now() -> str:
        """Say what time it is."""
        raise sf.ToolFault("no clock")

    last = json.dumps({"content": [{"type": "text", "text": "Snow."}], "stop_reason": "end_turn"})
    claude, sent = scripted(WHOLE, last.encode())

    run = await sf.Agent(model=claude, tools=[weather, now]).generate("Hi")

    assert run.unwrap() == "Snow."
    assert content_of(sent[1], 1) == json.loads(WHOLE)["content"]
    assert content_of(sent[1], 2) == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Snow in Oslo"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no clock", "is_error": True},
    ]


async def test_a_paused_turn_goes_on_with_all_that_the_server_did() -> None:
    paused = (SAMPLES / "web_search.json").read_bytes()
    last = json.dumps({"content": [{"type": "text", "text": "Snow."}], "stop_reason": "end_turn"})
    claude, sent = scripted(paused, last.encode())
    agent = sf.Agent(model=claude)

    first = await agent.generate("Hi")
    assert isinstance(first.end, sf.Stopped)
    assert first.steps[-1].finish_reason.raw == "pause_turn"
    second = await agent.generate(first.messages)

    assert second.unwrap() == "Snow."
    given = json.loads(paused)["content"]
    del given[0]["caller"], given[2]["citations"][1]["file_id"]
    assert content_of(sent[1], 1) == given
