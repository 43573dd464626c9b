"""Laws of what a provider's model sends."""

from typing import Final

from attrs import evolve

from stepfold.testing.conformance._fake_server import SentRequest
from stepfold.testing.conformance._heard import Broken, broken_law
from stepfold.testing.conformance._samples import ProviderSample
from stepfold.testing.conformance._trial import SECRET, Trial
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    ErrorTextOutput,
    File,
    JsonFormat,
    JsonText,
    Message,
    ModelRequest,
    NamedTool,
    Reasoning,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

_SCHEMA: Final = JsonText.of(
    {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    }
)
_TOOLS: Final = (ToolDefinition("weather", "Look up the weather.", _SCHEMA),)
_HELLO: Final = UserMessage("Say hello.")
_TURNS: Final[tuple[Message, ...]] = (
    SystemMessage("Be short."),
    _HELLO,
    AssistantMessage(
        (
            Reasoning("Two cities."),
            Text("I look."),
            ToolCall("call-1", "weather", '{"city": "Oslo"}'),
            ToolCall("call-2", "weather", '{"city": "Röm \U0001f30d"}'),
        )
    ),
    ToolMessage(
        (
            ToolResult("call-1", "weather", TextOutput("3 °C")),
            ToolResult("call-2", "weather", ErrorTextOutput("no such city")),
        )
    ),
)
_IMAGE: Final = File(b"\x89PNG\r\n\x1a\n", "image/png")
_SETTINGS: Final = CallSettings(
    max_output_tokens=100,
    temperature=0.5,
    top_p=0.9,
    top_k=40,
    presence_penalty=0.1,
    frequency_penalty=0.1,
    stop_sequences=("END",),
    seed=7,
    reasoning="low",
)

HELLO: Final = ModelRequest(messages=(_HELLO,))
"""What a model is asked where it does not matter."""

_REQUESTS: Final = (
    ("a greeting", HELLO),
    ("instructions and every setting", evolve(HELLO, instructions="Be kind.", settings=_SETTINGS)),
    ("tools", evolve(HELLO, tools=_TOOLS)),
    ("tools, one of which is required", evolve(HELLO, tools=_TOOLS, tool_choice="required")),
    ("tools, not to be called", evolve(HELLO, tools=_TOOLS, tool_choice="none")),
    ("a tool to be called", evolve(HELLO, tools=_TOOLS, tool_choice=NamedTool("weather"))),
    ("two calls with their results", ModelRequest(messages=_TURNS, tools=_TOOLS)),
    ("an image", ModelRequest(messages=(UserMessage((Text("What is it?"), _IMAGE)),))),
    ("an answer by a schema", evolve(HELLO, response_format=JsonFormat(_SCHEMA))),
    ("a text that no UTF-8 holds", ModelRequest(messages=(UserMessage("\ud83d alone"),))),
    ("options for another", evolve(HELLO, provider_options=JsonText('{"another":{"a":1}}'))),
)


async def requests_are_sent(trial: Trial, sample: ProviderSample) -> None:
    """Every request is sent, alike each time, and the key is in its headers alone.

    One that the protocol cannot say may be refused by a `UsageError` instead.
    """
    for named, request in (*_REQUESTS, ("the request that was given", trial.request)):
        sent = {
            how: await _sent(trial, sample, named, how, request) for how in ("generate", "stream")
        }
        for how, first in sent.items():
            again = await _sent(trial, sample, named, how, request)
            if again != first and first is not None:
                broken_law(
                    "the same request must be sent as the same bytes",
                    sample=named,
                    done=f"{how} was called twice",
                    expected=first.content.decode("utf-8", "replace"),
                    came=again.content.decode("utf-8", "replace") if again else "no request",
                )


async def _sent(
    trial: Trial, sample: ProviderSample, named: str, how: str, request: ModelRequest
) -> SentRequest | None:
    asking = Trial(trial.model, trial.server, request, trial.chance)
    if how == "generate":
        end = await asking.generate([sample.body])
    else:
        end = (await asking.stream(sample, sample.events)).end
    if isinstance(end, Broken) and end.is_refusal and not trial.server.requests:
        return None
    if isinstance(end, Broken) or len(trial.server.requests) != 1:
        broken_law(
            "every request must be sent, once",
            sample=named,
            done=f"{how} was called",
            expected="one request to the server",
            came=end if isinstance(end, Broken) else f"{len(trial.server.requests)} requests",
        )
    sent = trial.server.requests[0]
    if SECRET in sent.url or SECRET.encode() in sent.content:
        broken_law(
            "the key must be sent in headers only: addresses and bodies are logged",
            sample=named,
            done=f"{how} was called",
            expected="an address and a body without the key",
            came=f"{sent.url} with {sent.content!r}",
        )
    return sent
