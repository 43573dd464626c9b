"""Which files a server fetches by their addresses; all others are fetched for it."""

import json

import httpx
import pytest

from stepfold.agent import Agent
from stepfold.ports import Downloaded, LanguageModel, supported_urls_of, supports_url
from stepfold.providers import anthropic, google, openai, openai_compatible, openai_responses
from stepfold.values import File, UserMessage

WEB = "https://example.org/a"
OPENAI = openai("gpt-5.4", api_key="sk-test")
RESPONSES = openai_responses("gpt-5.4", api_key="sk-test")
ANTHROPIC = anthropic("claude-opus-4-8", api_key="sk-test")
GOOGLE = google("gemini-3-pro", api_key="sk-test")
COMPATIBLE = openai_compatible("m", base_url="http://localhost:1/v1")


@pytest.mark.parametrize(
    ("model", "media_type", "url", "is_fetched"),
    [
        (OPENAI, "image/png", WEB, True),
        (OPENAI, "image", WEB, True),
        (OPENAI, "application/pdf", WEB, False),
        (RESPONSES, "image/png", WEB, True),
        (RESPONSES, "application/pdf", WEB, True),
        (RESPONSES, "text/csv", WEB, False),
        (ANTHROPIC, "image/png", WEB, True),
        (ANTHROPIC, "application/pdf", "ftp://example.org/a", False),
        (ANTHROPIC, "text/plain", WEB, False),
        (GOOGLE, "image/png", WEB, False),
        (GOOGLE, "video/mp4", "https://www.youtube.com/watch?v=1", True),
        (
            GOOGLE,
            "image/png",
            "https://generativelanguage.googleapis.com/v1beta/files/1",
            True,
        ),
        (COMPATIBLE, "image/png", WEB, False),
    ],
)
def test_a_server_says_what_it_fetches(
    model: LanguageModel, media_type: str, url: str, is_fetched: bool
) -> None:
    """As the AI SDK's providers do; what is only compatible may fetch nothing."""
    supported = supported_urls_of(model)

    assert supported is not None
    assert supports_url(supported, media_type, url) is is_fetched


async def test_a_file_that_was_fetched_reaches_the_wire() -> None:
    """Sent as what its first bytes show."""
    bodies: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        said = {"message": {"content": "A dot."}, "finish_reason": "stop"}
        return httpx.Response(200, json={"choices": [said]})

    async def download(url: str) -> Downloaded:
        assert url == WEB
        return Downloaded(b"GIF89a", "text/plain")

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        model = openai_compatible("m", base_url="http://localhost:1/v1", client=client)
        prompt = [UserMessage((File(WEB, "image"),))]
        await Agent(model=model, download=download).generate(prompt)

    image = {"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lGODlh"}}
    assert bodies[0]["messages"] == [{"role": "user", "content": [image]}]
