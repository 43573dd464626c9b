"""Files that a provider does not fetch are fetched for it, once a run, and never kept."""

from typing import final

import anyio
import pytest

from stepfold.agent import Agent, RunFailed
from stepfold.codec import encode
from stepfold.loop import RetryPolicy, begin
from stepfold.loop.events import StepPlan
from stepfold.ports import Downloaded, compose
from stepfold.shell import (
    StepContext,
    drive_sync,
    extract_reasoning,
    map_request,
    tool,
    wrap_language_model,
)
from stepfold.testing import Scripted, ScriptedModel, call, reply
from stepfold.values import (
    AssistantMessage,
    ContentOutput,
    Custom,
    Failed,
    File,
    FileBytes,
    FileUrl,
    Message,
    ModelError,
    ModelErrorReason,
    ModelRequest,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolResult,
    UsageError,
    UserMessage,
)

A, B = "https://example.org/a", "https://example.org/b"


@final
class Web:
    """What there is to download, and what was asked for."""

    def __init__(self, **files: Downloaded | Exception | None) -> None:
        self.files = {f"https://example.org/{name}": found for name, found in files.items()}
        self.asked: list[str] = []

    async def __call__(self, url: str) -> Downloaded | None:
        self.asked.append(url)
        found = self.files[url]
        if isinstance(found, Exception):
            raise found
        return found


def model_of(*script: Scripted) -> ScriptedModel:
    """A model that says these things, and whose provider fetches images."""
    return ScriptedModel(script or (reply("Nice."),), supported_urls={"image/*": ("^https://",)})


def shown(*parts: Text | File) -> list[Message]:
    """What a person shows."""
    return [UserMessage(parts)]


async def seen(
    prompt: list[Message], web: Web, model: ScriptedModel | None = None
) -> tuple[Message, ...]:
    """What the model is asked in the end."""
    asked = model or model_of()
    await Agent(model=asked, download=web, allow_system_messages=True).generate(prompt)
    return asked.requests[-1].messages


PDF = File(FileUrl(A), "application/pdf")
CONTENT = Downloaded(b"%PDF-1.7", "application/pdf")
READ = File(FileBytes(b"%PDF-1.7"), "application/pdf")


async def test_a_file_that_the_provider_does_not_fetch_is_fetched() -> None:
    """All else of the message stays; so do other messages, as the same objects."""
    web = Web(a=CONTENT)
    first, last = SystemMessage("Obey."), UserMessage("So?")
    found = await seen(
        [first, UserMessage((Text("See:"), PDF)), AssistantMessage("Hm."), last], web
    )

    assert found[1] == UserMessage((Text("See:"), READ))
    assert found[0] is first
    assert found[3] is last
    assert web.asked == [A]


async def test_what_the_provider_fetches_goes_as_it_is() -> None:
    """By media type and address."""
    web = Web()
    image = File(FileUrl(A), "image/png")

    assert await seen(shown(image), web) == (UserMessage((image,)),)
    assert web.asked == []


async def test_a_model_that_says_nothing_is_given_addresses() -> None:
    """They are its own business; but what a `data:` address holds is in it."""
    web = Web()
    data = File(FileUrl("data:text/csv;base64,aGk="), "text/plain")
    found = await seen(shown(PDF, data), web, ScriptedModel([reply("Nice.")]))

    assert found == (UserMessage((PDF, File(FileBytes(b"hi"), "text/csv"))),)


async def test_addresses_stay_if_nothing_is_to_be_fetched() -> None:
    """By the runtime, or by what fetches."""
    model = model_of()
    await Agent(model=model, download=None).generate(shown(PDF))

    assert model.requests[0].messages == (UserMessage((PDF,)),)
    assert await seen(shown(PDF), Web(a=None)) == (UserMessage((PDF,)),)


@pytest.mark.parametrize(
    ("declared", "said", "data", "media_type"),
    [
        ("text/csv", "text/plain", b"hi", "text/csv"),
        ("audio", "audio/wav", b"hi", "audio/wav"),
        ("audio/*", None, b"ID3", "audio/mpeg"),
        ("audio", "audio/wav", b"ID3", "audio/mpeg"),
        ("Audio", "text/html", b"<html>", "Audio"),
        ("audio", None, b"hi", "audio"),
    ],
)
async def test_what_a_file_is(
    declared: str, said: str | None, data: bytes, media_type: str
) -> None:
    """As declared; half a type is made whole by what it shows, else by what the server says."""
    found = await seen(shown(File(FileUrl(A), declared)), Web(a=Downloaded(data, said)))

    assert found == (UserMessage((File(FileBytes(data), media_type),)),)


async def test_files_in_results_are_fetched() -> None:
    """Of tools, and of the provider's own."""
    parts = (Text("See:"), PDF, Custom("acme.mark"))
    called = AssistantMessage(
        (
            ToolCall("a", "look", "{}"),
            ToolCall("b", "look", "{}"),
            ToolCall("p", "find", "{}", provider_executed=True),
            ToolResult("p", "find", ContentOutput(parts), provider_executed=True),
        )
    )
    plain = ToolResult("b", "look", TextOutput("warm"))
    told = ToolMessage((ToolResult("a", "look", ContentOutput(parts)), plain))
    web = Web(a=CONTENT)
    found = await seen([UserMessage("Look."), called, told, UserMessage("So?")], web)
    read = ContentOutput((parts[0], READ, parts[2]))

    assert found[1].content[-1] == ToolResult("p", "find", read, provider_executed=True)
    assert found[2] == ToolMessage((ToolResult("a", "look", read), plain))
    assert web.asked == [A]


async def test_a_run_fetches_a_file_once_and_keeps_its_address() -> None:
    """Later prompts hold the same message; the state holds none of the content."""

    @tool
    def look() -> str:
        """Look."""
        return "warm"

    web = Web(a=CONTENT)
    model = model_of(reply(call(look)), reply(call(look)), reply("Nice."))
    run = await Agent(model=model, tools=[look], download=web).generate(shown(PDF))

    assert web.asked == [A]
    assert [request.messages[0] for request in model.requests] == [UserMessage((READ,))] * 3
    assert len({id(request.messages[0]) for request in model.requests}) == 1
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    assert run.messages[0] == UserMessage((PDF,))
    assert b"%PDF" not in encode(run.state)


async def test_a_file_is_found_wherever_a_prepare_function_puts_it() -> None:
    """A replaced prompt is looked through from its start, each time it is replaced."""

    def prepare(context: StepContext[object]) -> StepPlan | None:
        plans = [None, [UserMessage((PDF,))], [UserMessage("Hi."), UserMessage((PDF,))]]
        messages = plans[context.step]
        return None if messages is None else StepPlan(messages=tuple(messages))

    @tool
    def look() -> str:
        """Look."""
        return "warm"

    web = Web(a=CONTENT)
    model = model_of(reply(call(look)), reply(call(look)), reply("Nice."))
    agent = Agent(model=model, tools=[look], prepare_step=prepare, download=web)
    await agent.generate("Hi.")

    assert model.requests[1].messages == (UserMessage((READ,)),)
    assert model.requests[2].messages == (UserMessage("Hi."), UserMessage((READ,)))
    assert web.asked == [A]


async def test_files_are_fetched_side_by_side() -> None:
    """Each waits for the other here: one after another, they would wait for ever."""
    arrived = {A: anyio.Event(), B: anyio.Event()}

    async def download(url: str) -> Downloaded:
        arrived[url].set()
        for event in arrived.values():
            await event.wait()
        return Downloaded(url.encode())

    model = model_of()
    two = shown(File(FileUrl(A), "text/plain"), File(FileUrl(B), "text/plain"))
    with anyio.fail_after(5):
        await Agent(model=model, download=download).generate(two)

    assert model.requests[0].messages == tuple(
        shown(File(A.encode(), "text/plain"), File(B.encode(), "text/plain"))
    )


async def test_files_are_fetched_for_streams() -> None:
    """The same, part by part."""
    web, model = Web(a=CONTENT), model_of()
    async with Agent(model=model, download=web).stream(shown(PDF)) as stream:
        async for _ in stream:
            pass

    assert model.requests[0].messages == (UserMessage((READ,)),)


def test_files_are_fetched_without_an_event_loop() -> None:
    """One after another."""
    web = Web(a=CONTENT, b=Downloaded(b"hi"))
    model = model_of()
    agent = Agent(model=model, download=web)
    prompt = shown(PDF, File(FileUrl(B), "text/plain"))
    first = begin(agent.program, prompt, run="r", seed=0, at=0)
    drive_sync(agent.program, first, agent.runtime())

    assert model.requests[0].messages == tuple(shown(READ, File(b"hi", "text/plain")))
    assert web.asked == [A, B]


# --- what goes wrong --------------------------------------------------------------------------

GONE = ModelErrorReason("bad-request", "the file at https://example.org/a cannot be fetched")


async def failure(prompt: list[Message], web: Web, retry: RetryPolicy | None = None) -> object:
    """Why the run failed."""
    agent = Agent(model=model_of(), download=web, retry=retry)
    outcome = (await agent.try_generate(prompt)).failure()
    assert isinstance(outcome, RunFailed)
    assert isinstance(outcome.run.end, Failed)
    return outcome.run.end.error


async def test_a_file_that_cannot_be_had_fails_the_call() -> None:
    """With the reason of what fetches; of several, that of the first in the prompt."""
    web = Web(a=ModelError(GONE), b=ModelError(ModelErrorReason("bad-request", "later")))
    both = shown(File(FileUrl(A), "text/plain"), File(FileUrl(B), "text/plain"))

    assert await failure(shown(PDF), web) == GONE
    assert await failure(both, web) == GONE


async def test_a_fault_in_what_fetches_is_told_as_one() -> None:
    """It is somebody's own code."""
    assert await failure(shown(PDF), Web(a=KeyError("a"))) == ModelErrorReason(
        "unknown", "the download of https://example.org/a raised KeyError"
    )


async def test_a_data_url_that_is_garbled_fails_the_call() -> None:
    """Its text is shown in part: it may be long."""
    url = "data:image/png;base64," + "*" * 200
    found = await failure(shown(File(FileUrl(url), "image/png")), Web())

    assert found == ModelErrorReason(
        "bad-request", f"the file at {url[:100]}… cannot be read: its content is no base64"
    )
    short = await failure(shown(File(FileUrl("data:"), "image/png")), Web())
    assert short == ModelErrorReason(
        "bad-request", "the file at data: cannot be read: it has no comma before its content"
    )


async def test_a_file_is_fetched_again_when_the_call_is_made_again() -> None:
    """What is here already is not."""
    web = Web(a=ModelError(ModelErrorReason("connection", "try later")), b=Downloaded(b"hi"))
    fast = RetryPolicy(max_retries=1, initial_delay=0.0, jitter=0.0)
    both = shown(PDF, File(FileUrl(B), "text/plain"))

    assert await failure(both, web, fast) == ModelErrorReason("connection", "try later")
    assert sorted(web.asked) == [A, A, B]


def test_what_fetches_is_a_function() -> None:
    """An address is none."""
    with pytest.raises(UsageError, match="download: expected an async function of an address"):
        Agent(model=model_of(), download=A)  # type: ignore[arg-type]


# --- middleware -------------------------------------------------------------------------------


def _unchanged(request: ModelRequest) -> ModelRequest:
    return request


async def test_middleware_says_what_the_model_inside_fetches() -> None:
    """However many layers there are."""
    web, inner = Web(a=CONTENT), model_of()
    layers = compose(map_request(_unchanged), extract_reasoning(tag="think"))
    model = wrap_language_model(inner, layers, model_id="wrapped")
    await Agent(model=model, download=web).generate(shown(PDF))

    assert inner.requests[0].messages == (UserMessage((READ,)),)
