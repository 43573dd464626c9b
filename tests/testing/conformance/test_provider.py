"""The check of providers passes for each of ours, and finds every fault that was planted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from stepfold.ports import LanguageModel
from stepfold.providers import (
    ClientOptions,
    anthropic,
    chat_model,
    google,
    openai,
    openai_responses,
)
from stepfold.testing.conformance import ProviderSample, check_provider, sse_events
from stepfold.values import UsageError
from tests.testing.conformance._lines import FAULTS, LinesModel

DATA = Path(__file__).parents[2] / "data"
Make = Callable[[ClientOptions], LanguageModel]

BUSY = b'{"error": {"message": "Busy", "type": "overloaded_error"}}'


def recorded(folder: str, name: str) -> ProviderSample:
    """A stream, with the body that says the same where there is one."""
    body = DATA / folder / f"{name}.json"
    return ProviderSample(
        name=name,
        events=sse_events((DATA / folder / f"{name}.sse").read_bytes()),
        body=body.read_bytes() if body.exists() else b"",
    )


def refused(status: int, body: bytes) -> ProviderSample:
    return ProviderSample(name=f"status {status}", body=body, status=status, is_error=True)


def events(*values: object) -> tuple[bytes, ...]:
    return tuple(b"data: %b\n\n" % json.dumps(value).encode() for value in values)


ITEM = {"type": "message", "id": "i", "content": [{"type": "output_text", "text": "Hi you"}]}
RESPONSE = {"id": "r", "model": "m", "status": "completed", "output": [ITEM]}
WORDS = {"type": "response.output_text.delta", "output_index": 0, "item_id": "i"}
RESPONSES = ProviderSample(
    name="a response",
    events=events(
        {"type": "response.created", "response": {"id": "r", "model": "m"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "content": []}},
        {**WORDS, "delta": "Hi "},
        {**WORDS, "delta": "you"},
        {"type": "response.output_item.done", "output_index": 0, "item": ITEM},
        {"type": "response.completed", "response": RESPONSE},
    ),
    body=json.dumps(RESPONSE).encode(),
)
OURS: dict[str, tuple[Make, list[ProviderSample]]] = {
    "anthropic": (
        lambda options: anthropic("claude-opus-4-8", **options),
        [
            recorded("anthropic_messages", "thinking_and_calls"),
            recorded("anthropic_messages", "web_search"),
            ProviderSample(name="busy", events=events(json.loads(BUSY)), is_error=True),
            refused(529, b'{"type": "error", "error": {"type": "overloaded_error"}}'),
        ],
    ),
    "google": (
        lambda options: google("gemini-3-pro", **options),
        [
            recorded("google_generate", "turn"),
            refused(429, b'{"error": {"code": 429, "message": "m", "status": "X"}}'),
        ],
    ),
    "mistral": (
        lambda options: chat_model("mistral", "mistral-large", **options),
        [recorded("openai_chat", "text"), refused(422, b'{"detail": [{"msg": "m"}]}')],
    ),
    "openai": (
        lambda options: openai("gpt-5.4", **options),
        [
            *(recorded("openai_chat", name) for name in ("text", "reasoning", "parallel_calls")),
            ProviderSample(name="busy", body=BUSY, events=events(json.loads(BUSY)), is_error=True),
            refused(400, BUSY),
        ],
    ),
    "responses": (
        lambda options: openai_responses("gpt-5.4", **options),
        [RESPONSES, refused(400, BUSY)],
    ),
}

LINES = ProviderSample(
    name="two lines",
    events=(
        '{"say": "Grüße, "}\n'.encode(),
        b'{"say": "you"}\n',
        b'{"end": "stop", "tokens": 7}\n',
    ),
    body='{"say": "Grüße, you", "end": "stop", "tokens": 7}'.encode(),
)


TOLD = """
how the network cuts a stream must change nothing
  sample:   two lines
  done:     the stream came in 2 chunks, cut at byte 12 of 65: b'{"say": "Gr\\xc3' | b'\\xbc\\xc3\\x9fe, "}\\n{"s'
  expected: as in one chunk, where parts[2].delta is 'Grüße, '
  came:     parts[2].delta is 'Gr��ße, '
  on:       asyncio
""".strip()  # noqa: E501


@pytest.mark.parametrize("name", OURS)
def test_each_of_our_providers_keeps_the_laws(name: str) -> None:
    make, samples = OURS[name]

    check_provider(make, samples)


def test_a_model_that_is_not_made_of_our_pieces_can_keep_them_too() -> None:
    check_provider(LinesModel, [LINES])


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault: str) -> None:
    with pytest.raises(AssertionError) as found:
        check_provider(lambda options: LinesModel(options, fault), [LINES])

    law, sample, done, expected, came, where = str(found.value).splitlines()
    assert law
    assert sample.startswith("  sample:   ")
    assert done.startswith("  done:     ")
    assert expected.startswith("  expected: ")
    assert came.startswith("  came:     ")
    assert where in {"  on:       asyncio", "  on:       trio"}


def test_a_counter_example_is_the_smallest_and_says_what_differs() -> None:
    with pytest.raises(AssertionError) as found:
        check_provider(lambda options: LinesModel(options, "splits characters"), [LINES])

    assert str(found.value) == TOLD


def test_a_check_needs_a_reply_that_is_not_too_long() -> None:
    error = ProviderSample(name="busy", body=BUSY, events=(BUSY,), is_error=True)
    long = ProviderSample(name="long", events=(b" " * 20_000,))

    with pytest.raises(UsageError, match="the events of a whole reply"):
        check_provider(LinesModel, [error])
    with pytest.raises(UsageError, match="'long' has 20000 bytes"):
        check_provider(LinesModel, [long])
    with pytest.raises(UsageError, match="neither events nor a body"):
        ProviderSample(name="nothing")
    with pytest.raises(UsageError, match="say is_error=True"):
        ProviderSample(name="refusal", body=BUSY, status=500)


def test_events_are_cut_behind_each_of_them() -> None:
    stream = b"data: 1\r\n\r\n: ping\n\ndata: 2\r\rdata: 3"

    assert sse_events(stream) == (b"data: 1\r\n\r\n", b": ping\n\n", b"data: 2\r\r", b"data: 3")
