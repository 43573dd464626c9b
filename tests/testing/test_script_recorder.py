"""Real runs that become scripts, in memory and in files."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import stepfold as sf
from stepfold.codec import DecodeFault
from stepfold.loop import parts_of
from stepfold.ports import SupportedUrls, streamed
from stepfold.testing import (
    Exchange,
    Scripted,
    ScriptedModel,
    ScriptRecorder,
    VirtualClock,
    call,
    laws,
    read_script,
    reply,
    write_script,
)
from stepfold.values import (
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamError,
    StreamPart,
    TextDelta,
    UserMessage,
)

BUSY = ModelErrorReason("overloaded", "come back later", retry_after=2 * 10**9)


@sf.tool
def weather(city: str) -> float:
    """Ask for the weather."""
    return {"Oslo": 17.3, "Rome": 28.0}[city]


ANSWERS: list[Scripted] = [
    BUSY,
    reply("Let me see.", call(weather, {"city": "Oslo"}), call(weather, {"city": "Rome"})),
    [*parts_of(reply("Rome is"))[:-1], StreamError(BUSY)],
    reply("Rome is warmer."),
]


def agent_of(model: sf.LanguageModel) -> sf.Agent:
    return sf.Agent(model=model, tools=[weather], retry=sf.RetryPolicy(max_retries=2))


async def streamed_run(model: sf.LanguageModel, run_id: str = "run") -> sf.Run[str]:
    async with agent_of(model).stream(
        "Where is it warmer?", clock=VirtualClock(), run_id=run_id, seed=3
    ) as stream:
        return await stream.run()


async def test_a_streamed_run_is_replayed_from_its_script() -> None:
    recorder = ScriptRecorder(ScriptedModel(ANSWERS, chunk_size=3))
    first = await streamed_run(recorder)
    model = ScriptedModel(recorder.script)
    again = await streamed_run(model)

    assert first.unwrap() == "Rome is warmer."
    laws.same_run(first.state, again.state)
    model.assert_exhausted()


async def test_a_script_is_as_good_in_another_run() -> None:
    recorder = ScriptRecorder(ScriptedModel(ANSWERS))
    first = await streamed_run(recorder)
    generated = await agent_of(ScriptedModel(recorder.script)).generate(
        "Where is it warmer?", clock=VirtualClock(), run_id="another", seed=99
    )

    assert generated.unwrap() == first.unwrap()
    assert generated.results_of(weather) == first.results_of(weather) == (17.3, 28.0)


async def test_answers_are_kept_exactly() -> None:
    recorder = ScriptRecorder(ScriptedModel(ANSWERS, chunk_size=3))
    await streamed_run(recorder)

    answers = [exchange.answer for exchange in recorder.script]
    deltas = [part.delta for part in parts_in(answers[1]) if isinstance(part, TextDelta)]

    assert answers[0] == BUSY
    assert deltas == ["Let", " me", " se", "e."]
    assert parts_in(answers[2])[-1] == StreamError(BUSY)


def parts_in(answer: object) -> list[StreamPart]:
    assert isinstance(answer, tuple)
    return list(answer)


async def test_a_generated_reply_is_kept_whole() -> None:
    recorder = ScriptRecorder(ScriptedModel([BUSY, reply("Hello")]))
    await agent_of(recorder).generate("Hi", clock=VirtualClock())

    assert [exchange.answer for exchange in recorder.script] == [BUSY, reply("Hello")]


async def test_a_stream_that_raises_midway_keeps_its_parts_and_why() -> None:
    class Broken:
        provider = "acme"
        model_id = "one"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise sf.ModelError(BUSY)

        @streamed
        async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
            for part in parts_of(reply("Hello"))[:3]:
                yield part
            raise sf.ModelError(BUSY)

    recorder = ScriptRecorder(Broken())
    with pytest.raises(sf.ModelError):
        async with recorder.stream(ModelRequest(messages=(UserMessage("Hi"),))) as stream:
            _ = [part async for part in stream]

    assert recorder.script[0].answer == (*parts_of(reply("Hello"))[:3], StreamError(BUSY))


async def test_a_stream_that_is_left_keeps_what_was_read() -> None:
    recorder = ScriptRecorder(ScriptedModel([reply("Hello")] * 2))
    async with recorder.stream(ModelRequest(messages=(UserMessage("Hi"),))) as stream:
        await anext(aiter(stream))
    async with recorder.stream(ModelRequest(messages=(UserMessage("Ho"),))):
        pass

    assert [exchange.answer for exchange in recorder.script] == [parts_of(reply("Hello"))[:1]]


async def test_a_stream_of_nothing_is_an_answer() -> None:
    recorder = ScriptRecorder(ScriptedModel([()]))
    async with recorder.stream(ModelRequest(messages=(UserMessage("Hi"),))) as stream:
        assert [part async for part in stream] == []

    assert [exchange.answer for exchange in recorder.script] == [()]


async def test_a_fault_of_the_model_is_not_an_answer() -> None:
    recorder = ScriptRecorder(ScriptedModel([]))
    with pytest.raises(sf.UsageError):
        await recorder.generate(ModelRequest(messages=()))

    assert recorder.script == ()


async def test_secrets_are_not_kept() -> None:
    secret = "sk-abcdef123456"
    recorder = ScriptRecorder(ScriptedModel([reply("Hello")]))
    settings = sf.default_settings(headers={"authorization": f"Bearer {secret}"})
    options = {"acme": {"api_key": "hunter2"}}
    agent = sf.Agent(model=settings(recorder), provider_options=options)
    await agent.generate(f"My key is {secret}")

    assert secret not in str(recorder.script)
    assert "hunter2" not in str(recorder.script)


def test_it_says_what_the_model_says_of_itself() -> None:
    urls: SupportedUrls = {"image/*": ("https://",)}
    model = ScriptedModel([], provider="acme", model_id="one", supported_urls=urls)
    recorder = ScriptRecorder(model)

    assert (recorder.provider, recorder.model_id) == ("acme", "one")
    assert recorder.supported_urls == urls
    assert not recorder.async_only


# --- files ------------------------------------------------------------------------------------


async def recorded() -> tuple[Exchange, ...]:
    recorder = ScriptRecorder(ScriptedModel(ANSWERS, chunk_size=3))
    await streamed_run(recorder)
    return recorder.script


async def test_a_file_holds_a_script(tmp_path: Path) -> None:
    script = await recorded()
    write_script(script, tmp_path / "weather.json")

    assert read_script(tmp_path / "weather.json") == sf.Success(script)


async def test_a_file_tells_each_message_once(tmp_path: Path) -> None:
    path = tmp_path / "weather.json"
    write_script(await recorded(), path)
    text = path.read_text()

    assert text.count("Where is it warmer?") == 1
    assert text.count('"Ask for the weather."') == 1
    assert text.startswith('{\n  "v": 1,\n  "type": "script",\n  "exchanges": [\n    {\n')
    requests = [exchange["request"] for exchange in json.loads(text)["exchanges"]]
    assert requests[1] == {"follows": 0, "messages": []}
    assert requests[2]["follows"] == 1
    assert [message["type"] for message in requests[2]["messages"]] == [
        "assistant-message",
        "tool-message",
    ]


async def test_equal_scripts_are_equal_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_script(await recorded(), tmp_path / name)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "path", "message"),
    [
        ('"v": 1', '"v": 99', "/exchanges/0/request", "written as version 99"),
        ('"v": 1', '"v": true', "/v", "expected an integer, got True"),
        ('"script"', '"state"', "/type", "expected 'script', got 'state'"),
        ('"exchanges"', '"changes"', "", "expected an object of exchanges, type, v"),
        ('"v": 1,', '"v": 1,,', "", "expected JSON"),
        ('"follows": 0', '"follows": 3', "/exchanges/1/request/follows", "expected the index of"),
        (
            '"follows": 0',
            '"follows": true',
            "/exchanges/1/request/follows",
            "expected the index of",
        ),
        ('"user-message"', '"user"', "/exchanges/0/request/messages/0", "user"),
        ('"overloaded"', '"bored"', "/exchanges/0/answer/kind", "bored"),
        ('"tool-message"', '"tool"', "/exchanges/2/request/messages/1", "tool"),
        ('"stream-start"', '"start"', "/exchanges/1/answer/0", "start"),
    ],
)
async def test_a_fault_in_a_file_has_its_place(
    tmp_path: Path, old: str, new: str, path: str, message: str
) -> None:
    file = tmp_path / "weather.json"
    write_script(await recorded(), file)
    file.write_text(changed(file.read_text(), old, new))

    fault = read_script(file).failure()

    assert isinstance(fault, DecodeFault)
    assert fault.path.startswith(path)
    assert message in fault.message


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (b"\xff", ""),
        (b"[]", ""),
        (b'{"v":1,"type":"script","exchanges":{}}', "/exchanges"),
        (b'{"v":1,"type":"script","exchanges":[1]}', "/exchanges/0"),
        (
            b'{"v":1,"type":"script","exchanges":[{"request":1,"answer":[]}]}',
            "/exchanges/0/request",
        ),
    ],
)
def test_what_is_no_script_is_refused(tmp_path: Path, data: bytes, path: str) -> None:
    file = tmp_path / "script.json"
    file.write_bytes(data)

    assert read_script(file).failure().path == path


def test_a_missing_file_is_no_fault_of_a_script(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_script(tmp_path / "none.json")
