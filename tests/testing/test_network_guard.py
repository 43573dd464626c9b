"""A guard that lets no test reach the network."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable

import anyio
import httpx
import pytest
import trio

import stepfold as sf
from stepfold.testing import NetworkBlocked, ScriptedModel, call, no_network, reply

HOST = "model.example.com"
ELSEWHERE = "192.0.2.1"  # reserved for documentation: nobody answers there

WITHOUT_LOOP: dict[str, Callable[[], object]] = {
    "create_connection": lambda: socket.create_connection((HOST, 443), timeout=5),
    "getaddrinfo": lambda: socket.getaddrinfo(HOST, 443),
    "getaddrinfo by name": lambda: socket.getaddrinfo(port=443, host=HOST),
    "bytes": lambda: socket.getaddrinfo(HOST.encode(), 443),
    "httpx": lambda: httpx.get(f"https://{HOST}/", trust_env=False),
}


async def ask_httpx() -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        await client.get(f"https://{HOST}/")


async def ask_anyio() -> None:
    await anyio.connect_tcp(HOST, 443)


async def resolve() -> None:
    await anyio.getaddrinfo(HOST, 443)


@pytest.mark.parametrize("ask", WITHOUT_LOOP.values(), ids=WITHOUT_LOOP)
def test_another_machine_cannot_be_reached(ask: Callable[[], object]) -> None:
    with no_network() as guard, pytest.raises(NetworkBlocked) as caught:
        ask()

    assert caught.value.address == f"{HOST}:443"
    assert str(caught.value) == (
        "model.example.com:443: expected a test that stays on this machine, got a call over the "
        "network, which no_network() forbids: use a ScriptedModel, mock the tool, or serve it on "
        "localhost"
    )
    assert guard.blocked == ("model.example.com:443",)


@pytest.mark.parametrize("ask", [ask_httpx, ask_anyio, resolve])
async def test_nor_from_an_event_loop(ask: Callable[[], Awaitable[None]]) -> None:
    with no_network(), pytest.raises(NetworkBlocked, match=HOST):
        await ask()


def test_nor_by_the_means_of_one_event_loop() -> None:
    async def by_asyncio() -> None:
        await asyncio.open_connection(ELSEWHERE, 443)

    async def by_trio() -> None:
        await trio.open_tcp_stream(ELSEWHERE, 443)

    with no_network() as guard:
        with pytest.raises(NetworkBlocked):
            asyncio.run(by_asyncio())
        with pytest.raises(NetworkBlocked):
            trio.run(by_trio)

    assert guard.blocked == ("192.0.2.1:443",) * 2


async def test_numbers_are_blocked_too_if_in_a_group_of_errors() -> None:
    with no_network() as guard, pytest.raises((NetworkBlocked, ExceptionGroup)):
        await anyio.connect_tcp(ELSEWHERE, 443)

    assert guard.blocked == ("192.0.2.1:443",)


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_a_bare_socket_does_not_even_resolve_a_name(method: str) -> None:
    with no_network(), socket.socket() as bare, pytest.raises(NetworkBlocked, match=HOST):
        getattr(bare, method)((HOST, 80))


@pytest.mark.parametrize(
    "send",
    [
        lambda bare: bare.sendto(b"?", (ELSEWHERE, 53)),
        lambda bare: bare.sendto(b"?", 0, (ELSEWHERE, 53)),
        lambda bare: bare.sendmsg([b"?"], [], 0, (ELSEWHERE, 53)),
    ],
    ids=["sendto", "sendto with flags", "sendmsg"],
)
def test_no_datagram_is_sent(send: Callable[[socket.socket], object]) -> None:
    with (
        no_network(),
        socket.socket(type=socket.SOCK_DGRAM) as bare,
        pytest.raises(NetworkBlocked, match=r"192\.0\.2\.1:53"),
    ):
        send(bare)


@pytest.mark.parametrize("lookup", ["gethostbyname", "gethostbyname_ex", "gethostbyaddr"])
def test_no_name_is_looked_up(lookup: str) -> None:
    with no_network(), pytest.raises(NetworkBlocked, match=f"^{HOST}: "):
        getattr(socket, lookup)(HOST)


def test_no_address_is_turned_into_a_name() -> None:
    with no_network():
        with pytest.raises(NetworkBlocked, match=r"\[2001:db8::1\]:80"):
            socket.getnameinfo(("2001:db8::1", 80), 0)
        numbers = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV

        assert socket.getnameinfo((ELSEWHERE, 80), numbers) == (ELSEWHERE, "80")


async def serve_once(host: str) -> bytes:
    async def answer(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.send(b"here")

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, answer)
        async with await anyio.connect_tcp(host, port) as stream:
            said = await stream.receive()
        tasks.cancel_scope.cancel()
    return said


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_stays_open(host: str) -> None:
    with no_network() as guard:
        assert await serve_once(host) == b"here"

    assert not guard.blocked


async def test_unless_it_is_closed_as_well() -> None:
    with no_network(loopback=False), pytest.raises(NetworkBlocked, match="loopback=True"):
        await anyio.connect_tcp("localhost", 80)


def test_other_sockets_are_left_alone(tmp_path: object) -> None:
    with no_network(loopback=False), socket.socket() as server:
        left, right = socket.socketpair()
        server.bind(("127.0.0.1", 0))
        server.listen()
        with left, right:
            left.sendmsg([b"hello"])

            assert right.recv(5) == b"hello"


def everything() -> list[object]:
    names = ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo")
    methods = ("connect", "connect_ex", "sendto", "sendmsg")
    return [
        *(getattr(socket, name) for name in names),
        *(getattr(socket.socket, name) for name in methods),
        *sorted(vars(socket.socket)),
    ]


def test_all_is_put_back_however_the_block_is_left() -> None:
    before = everything()
    with no_network():
        assert everything() != before
    assert everything() == before
    with pytest.raises(ZeroDivisionError), no_network():
        raise ZeroDivisionError

    assert everything() == before


def test_what_another_has_replaced_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(self: socket.socket, address: object) -> None:
        """Stand for what another tool has put there."""

    monkeypatch.setattr(socket.socket, "connect", connect)
    with no_network():
        assert socket.socket.connect is not connect

    assert socket.socket.connect is connect


def test_nested_guards_forbid_what_any_of_them_forbids() -> None:
    with no_network() as outer:
        with no_network(loopback=False) as inner, pytest.raises(NetworkBlocked):
            socket.getaddrinfo("127.0.0.1", 80)
        with pytest.raises(NetworkBlocked):
            socket.getaddrinfo(HOST, None)

        assert socket.getaddrinfo("127.0.0.1", 80)
    assert inner.blocked == ("127.0.0.1:80",)
    assert outer.blocked == (HOST,)


def test_guards_may_come_down_in_another_order() -> None:
    before = everything()
    first, second = no_network(), no_network()
    with first:
        second.__enter__()
    try:
        with pytest.raises(NetworkBlocked):
            socket.getaddrinfo(HOST, 80)
    finally:
        second.__exit__(None, None, None)

    assert everything() == before
    assert (first.blocked, second.blocked) == ((), (f"{HOST}:80",))


def test_guards_of_many_threads_do_not_hurt_each_other() -> None:
    before = everything()
    refused: list[str] = []
    gate = threading.Barrier(8)

    def test() -> None:
        gate.wait()
        for _ in range(50):
            with no_network() as guard:
                try:
                    socket.getaddrinfo(HOST, 80)
                except NetworkBlocked:
                    refused.append(HOST)
                assert HOST + ":80" in guard.blocked

    threads = [threading.Thread(target=test) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert refused == [HOST] * 400
    assert everything() == before


@pytest.mark.parametrize("host", ["api.openai.com", ELSEWHERE])
async def test_a_run_on_a_real_model_fails_and_says_why(host: str) -> None:
    model = sf.openai("gpt-5.4", api_key="not-a-key", base_url=f"https://{host}/v1")
    with no_network():
        run = (await sf.Agent(model=model).try_generate("Hello")).failure().run

    assert isinstance(run.end, sf.Failed)
    assert f"NetworkBlocked: {host}:443: expected a test" in str(run.end.error)
    assert "not-a-key" not in str(run.end)


async def test_what_a_tool_swallowed_is_on_the_list() -> None:
    @sf.tool
    async def look_up() -> str:
        """Ask somebody."""
        await ask_anyio()
        return "never"

    agent = sf.Agent(model=ScriptedModel([reply(call(look_up)), reply("Sorry.")]), tools=[look_up])
    with no_network() as guard:
        run = await agent.generate("Hello")

    assert run.unwrap() == "Sorry."
    assert guard.blocked == ("model.example.com:443",)
