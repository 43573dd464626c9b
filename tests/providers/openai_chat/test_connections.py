"""A run keeps its connection from its first model call until it rests, and leaves none behind."""

import gc
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, TypeAlias, final

import anyio
import httpx
import pytest
from anyio import to_thread
from typing_extensions import override

import stepfold as sf
from stepfold.ports import BLOCKING, KEEPER
from stepfold.providers import ChatModel

RunOf: TypeAlias = Callable[[sf.Agent[object, str]], Awaitable[sf.Run[str]]]


@final
class ChatServer(ThreadingHTTPServer):
    """Asks for the tool `look` as often as it is told to, then answers; counts connections."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Chat)
        self.connections = 0
        self.open = 0
        self.calls = 1
        self.counting = threading.Lock()

    def closed(self) -> bool:
        """Whether all connections are closed, if need be soon."""
        deadline = time.monotonic() + 5
        while self.open and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.open == 0


class _Chat(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatServer  # type: ignore[mutable-override]  # as it is made by one
    pieces: ClassVar[int] = 3

    @override
    def setup(self) -> None:
        super().setup()
        with self.server.counting:
            self.server.connections += 1
            self.server.open += 1

    @override
    def finish(self) -> None:
        super().finish()
        with self.server.counting:
            self.server.open -= 1

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answered = sum(message["role"] == "tool" for message in body["messages"])
        if body.get("stream"):
            self._stream(is_done=answered >= self.server.calls)
            return
        said = {"role": "assistant", "content": "done"}
        choice: dict[str, object] = {"message": said, "finish_reason": "stop"}
        if answered < self.server.calls:
            asked = {"role": "assistant", "tool_calls": [CALL]}
            choice = {"message": asked, "finish_reason": "tool_calls"}
        data = json.dumps({"id": "i", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, *, is_done: bool) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if is_done:
            for _ in range(self.pieces):
                self._event({"delta": {"content": "x"}})
        else:
            self._event({"delta": {"tool_calls": [{"index": 0, **CALL}]}})
        self._event({"delta": {}, "finish_reason": "stop" if is_done else "tool_calls"})
        self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _event(self, choice: dict[str, object]) -> None:
        data = json.dumps({"id": "i", "choices": [{"index": 0, **choice}]}).encode()
        self._chunk(b"data: " + data + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))


CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()
        gc.collect()  # what was left open would be reported now
        assert running.closed()


@sf.tool
async def look() -> str:
    """Look."""
    assert KEEPER.get() is None
    return "seen"


def model_at(server: ChatServer, client: httpx.AsyncClient | None = None) -> ChatModel:
    base_url = f"http://127.0.0.1:{server.server_port}/v1"
    return sf.openai_compatible("m", base_url=base_url, client=client)


def agent_at(server: ChatServer, *middleware: sf.Middleware) -> sf.Agent[object, str]:
    model = sf.compose(*middleware)(model_at(server))
    return sf.Agent(model=model, tools=[look], stop_when=sf.is_step_count(4))


async def generated(agent: sf.Agent[object, str]) -> sf.Run[str]:
    return await agent.generate("go")


async def streamed(agent: sf.Agent[object, str]) -> sf.Run[str]:
    async with agent.stream("go") as stream:
        async for _ in stream:
            assert KEEPER.get() is None
        return await stream.run()


def driven_sync(agent: sf.Agent[object, str], model: sf.LanguageModel) -> sf.LoopState:
    first = sf.begin(agent.program, "go", run="r", seed=0, at=0)
    runtime = sf.Runtime(models=(model,), tools=(look,), deps=None)
    return sf.drive_sync(agent.program, first, runtime)


@pytest.mark.parametrize("run_of", [generated, streamed])
async def test_a_run_of_two_steps_makes_one_connection(server: ChatServer, run_of: RunOf) -> None:
    agent = agent_at(server)

    run = await run_of(agent)

    assert run.results_of(look) == ("seen",)
    assert server.connections == 1
    assert server.closed()


def test_a_run_without_an_event_loop_makes_one_connection(server: ChatServer) -> None:
    model = model_at(server)

    state = driven_sync(sf.Agent(model=model, tools=[look]), model)

    assert len(state.steps) == 2
    assert server.connections == 1
    assert server.closed()


@pytest.mark.parametrize("run_of", [generated, streamed])
async def test_middleware_has_nothing_to_do_for_it(server: ChatServer, run_of: RunOf) -> None:
    server.calls = 3
    agent = agent_at(server, Wrapped, sf.emulate_tools(), Wrapped)

    run = await run_of(agent)

    assert len(run.steps) > 2
    assert server.connections == 1


class Wrapped:
    """A middleware that knows nothing of connections."""

    def __init__(self, inner: sf.LanguageModel) -> None:
        self.provider = inner.provider
        self.model_id = inner.model_id
        self.generate = inner.generate
        self.stream = inner.stream


async def test_runs_at_once_have_their_own(server: ChatServer) -> None:
    """One that ends first closes nothing that another uses."""
    agent = agent_at(server)
    server.calls = 2

    async def one() -> None:
        run = await generated(agent)
        assert isinstance(run.end, sf.Completed)

    async with agent.stream("go") as stream:
        async for part in stream:
            if isinstance(part, sf.notes.StepStarted) and part.step == 1:
                async with anyio.create_task_group() as group:
                    for _ in range(3):
                        group.start_soon(one)
        run = await stream.run()

    assert isinstance(run.end, sf.Completed)
    assert server.connections == 4


async def test_a_stream_that_is_left_early_closes_its_connection(server: ChatServer) -> None:
    async with agent_at(server).stream("go") as stream:
        async for part in stream:
            if isinstance(part, sf.TextDelta):
                break

    assert server.connections == 1
    assert server.closed()


async def test_none_is_held_while_a_run_rests(server: ChatServer) -> None:
    async with agent_at(server).stream("go") as stream:
        async for _ in stream:
            pass
        assert server.closed()


async def test_a_run_that_is_cancelled_closes_its_connection(server: ChatServer) -> None:
    reached = anyio.Event()

    @sf.tool(name="look")
    async def look_long() -> str:
        """Look."""
        reached.set()
        await anyio.sleep_forever()
        return "never"

    agent = sf.Agent(model=model_at(server), tools=[look_long])
    async with anyio.create_task_group() as group:
        group.start_soon(generated, agent)
        await reached.wait()
        assert server.open == 1
        group.cancel_scope.cancel()

    assert server.closed()


async def test_a_block_serves_several_runs(server: ChatServer) -> None:
    model = model_at(server)
    agent = sf.Agent(model=model, tools=[look])

    async with model:
        await generated(agent)
        await streamed(agent)
        assert server.connections == 1

    assert server.closed()


async def test_a_client_that_was_given_is_used_as_it_is(server: ChatServer) -> None:
    async with httpx.AsyncClient() as client:
        agent = sf.Agent(model=model_at(server, client), tools=[look])
        await generated(agent)
        assert not client.is_closed
        assert server.open == 1


async def test_a_model_that_is_asked_in_another_event_loop_has_its_own(server: ChatServer) -> None:
    """The context goes along into threads, and must not carry a client into their loops."""

    class Elsewhere(Wrapped):
        def __init__(self, inner: sf.LanguageModel) -> None:
            super().__init__(inner)
            self.generate = self._generate
            self._inner = inner

        async def _generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
            return await to_thread.run_sync(anyio.run, self._inner.generate, request)

    run = await generated(agent_at(server, Elsewhere))

    assert len(run.steps) == 2
    assert server.connections == 2


async def test_a_model_by_itself_has_a_connection_for_each_call(server: ChatServer) -> None:
    model = model_at(server)
    request = sf.ModelRequest(messages=(sf.UserMessage("Hi"),))

    assert KEEPER.get() is None
    assert not BLOCKING.get()
    await model.generate(request)
    await model.generate(request)

    assert server.connections == 2
