"""Files are fetched from the open internet only, and never more than was agreed."""

import socket
from collections.abc import Coroutine, Iterable
from typing import TypeVar

import pytest

from stepfold.ports import BLOCKING, Download, Downloaded
from stepfold.transport import DownloadLimits, Resolve, download_files, resolve_host
from stepfold.values import ModelError, ModelErrorReason, UsageError
from tests.transport.conftest import ByteServer

T = TypeVar("T")
HERE = ("127.0.0.1",)
PNG = b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 2\r\n\r\nhi"


def answers(status: str, *headers: str, body: bytes = b"") -> bytes:
    """A whole response."""
    lines = (f"HTTP/1.1 {status}", *headers, f"content-length: {len(body)}", "", "")
    return "\r\n".join(lines).encode() + body


def resolving(**hosts: str) -> Resolve:
    """Resolve these names, and no other, to these addresses."""

    def resolve(host: str, port: int) -> Iterable[str]:
        found = hosts.get(host.replace(".", "_"))
        if found is None:
            raise OSError("no such name")
        return found.split()

    return resolve


def named(server: ByteServer, host: str, scheme: str = "http") -> str:
    """The address of the server under another name."""
    return server.url.replace("127.0.0.1", host).replace("http:", f"{scheme}:")


async def fault(download: Download, url: str) -> object:
    """Why a file cannot be had."""
    with pytest.raises(ModelError) as failed:
        await download(url)
    return failed.value.reason


def without_loop(work: Coroutine[object, object, T]) -> T:
    """Run what never suspends."""
    token = BLOCKING.set(True)
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        BLOCKING.reset(token)
    work.close()
    raise AssertionError("it suspended")


# --- what is fetched --------------------------------------------------------------------------


async def test_a_file_is_fetched_with_what_is_said_of_it(server: ByteServer) -> None:
    """Nothing of ours is sent along."""
    server.says(PNG)
    download = download_files(allowed_networks=HERE)

    assert await download(f"{server.url}/a.png?b=1#c") == Downloaded(b"hi", "image/png")
    head = server.requests[0].decode()
    assert head.startswith("GET /v1/a.png?b=1 HTTP/1.1\r\n")
    assert "authorization" not in head.lower()
    assert "cookie" not in head.lower()


def test_a_file_is_fetched_without_an_event_loop(server: ByteServer) -> None:
    """Redirects included."""
    server.says(answers("302 Found", "location: b.png"))
    server.says(PNG)

    found = without_loop(_fetched(f"{server.url}/a.png"))

    assert found == Downloaded(b"hi", "image/png")


async def _fetched(url: str, limits: DownloadLimits | None = None) -> Downloaded | None:
    return await download_files(allowed_networks=HERE, limits=limits)(url)


@pytest.mark.parametrize(
    ("header", "media_type"),
    [
        ("content-type: Image/PNG; charset=binary", "image/png"),
        ("content-type: application/octet-stream", None),
        ("x-nothing: said", None),
    ],
)
async def test_what_is_said_of_a_file_may_be_nothing(
    server: ByteServer, header: str, media_type: str | None
) -> None:
    """A type that fits everything says nothing."""
    server.says(answers("200 OK", header, body=b"hi"))

    assert await _fetched(server.url) == Downloaded(b"hi", media_type)


async def test_the_connection_goes_to_the_address_that_was_checked(server: ByteServer) -> None:
    """A name is resolved once; what it resolves to later does not matter."""
    server.says(PNG)
    asked: list[str] = []

    def resolve(host: str, port: int) -> Iterable[str]:
        asked.append(host)
        return HERE

    download = download_files(allowed_networks=HERE, resolve=resolve)
    url = named(server, "files.example.org")

    assert await download(url) == Downloaded(b"hi", "image/png")
    assert asked == ["files.example.org"]
    assert f"host: {url.split('/')[2]}\r\n" in server.requests[0].decode().lower()


async def test_the_next_address_is_tried_if_one_cannot_be_reached(server: ByteServer) -> None:
    """As browsers do; each of them was checked."""
    server.says(PNG)
    download = download_files(
        allowed_networks=["127.0.0.0/8"], resolve=resolving(example_org="127.0.0.2 127.0.0.1")
    )

    assert await download(named(server, "example.org")) == Downloaded(b"hi", "image/png")


def test_the_next_address_is_tried_without_an_event_loop(server: ByteServer) -> None:
    """Both clients do the same."""
    server.says(PNG)
    download = download_files(
        allowed_networks=["127.0.0.0/8"], resolve=resolving(example_org="127.0.0.2 127.0.0.1")
    )

    async def fetched() -> Downloaded | None:
        return await download(named(server, "example.org"))

    assert without_loop(fetched()) == Downloaded(b"hi", "image/png")


async def test_data_urls_are_read_without_a_network() -> None:
    """Their content is in them."""
    download = download_files(resolve=resolving())

    assert await download("data:image/png;base64,aGk=") == Downloaded(b"hi", "image/png")
    assert await fault(download, "data:image/png;base64,*") == ModelErrorReason(
        "bad-request", "the file at data:… cannot be fetched: its content is no base64"
    )


def test_names_are_resolved_by_the_system() -> None:
    """Each address once."""
    assert tuple(resolve_host("127.0.0.1", 80)) == ("127.0.0.1",)


# --- what is refused --------------------------------------------------------------------------

NOT_PUBLIC = "it leads into a network that is not public; if it shall, allow that to download_files"


@pytest.mark.parametrize(
    "addresses",
    ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "::ffff:127.0.0.1", "8.8.8.8 10.0.0.1"],
)
async def test_a_name_that_leads_to_a_network_of_ones_own_is_refused(addresses: str) -> None:
    """Even if only one of its addresses does."""
    download = download_files(resolve=resolving(example_org=addresses))

    assert await fault(download, "http://example.org/a") == ModelErrorReason(
        "bad-request", f"the file at http://example.org/a cannot be fetched: {NOT_PUBLIC}"
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://2130706433/",  # 127.0.0.1 as one number
        "http://127.1/",
        "https://169.254.169.254/latest/meta-data",
    ],
)
async def test_an_address_of_ones_own_network_is_refused(url: str) -> None:
    """However it is written."""
    reason = await fault(download_files(), url)

    assert isinstance(reason, ModelErrorReason)
    assert NOT_PUBLIC in reason.message


async def test_a_local_name_is_refused_whatever_it_resolves_to() -> None:
    """Some resolvers answer everything."""
    download = download_files(resolve=resolving(metadata_internal="8.8.8.8"))
    reason = await fault(download, "http://metadata.internal/")

    assert isinstance(reason, ModelErrorReason)
    assert NOT_PUBLIC in reason.message


async def test_a_redirect_is_checked_as_well(server: ByteServer) -> None:
    """A public server must not lead into a network of ours."""
    server.says(answers("302 Found", "location: http://inside.example.org/keys"))
    resolve = resolving(example_org="127.0.0.1", inside_example_org="10.0.0.1")
    download = download_files(allowed_networks=HERE, resolve=resolve)

    assert await fault(download, named(server, "example.org")) == ModelErrorReason(
        "bad-request",
        f"the file at http://inside.example.org/keys cannot be fetched: {NOT_PUBLIC}",
    )


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://example.org/a", "only http, https and data are fetched"),
        ("file:///etc/passwd", "only http, https and data are fetched"),
        ("/a", "only http, https and data are fetched"),
        ("http:///a", "it names no host"),
        ("http://example.org:port/", "it is no address"),
        ("http://[::1/", "it is no address"),
    ],
)
async def test_what_is_no_address_of_the_web_is_refused(url: str, problem: str) -> None:
    """Before anything is asked."""
    reason = await fault(download_files(resolve=resolving()), url)

    assert reason == ModelErrorReason(
        "bad-request", f"the file at {url} cannot be fetched: {problem}"
    )


async def test_a_user_and_a_password_are_neither_sent_nor_told() -> None:
    """They would be somebody's secret."""
    download = download_files(resolve=resolving(example_org="8.8.8.8"))

    assert await fault(download, "http://me:secret@example.org/a?key=k") == ModelErrorReason(
        "bad-request",
        "the file at http://example.org/a cannot be fetched: it holds a user or a password",
    )


async def test_an_address_that_no_client_can_write_down_is_refused(server: ByteServer) -> None:
    """What one library lets pass another may not."""
    download = download_files(allowed_networks=HERE, resolve=lambda host, port: HERE)
    reason = await fault(download, f"{named(server, 'example.org')}/{'a' * 70_000}")

    assert isinstance(reason, ModelErrorReason)
    assert reason.message.endswith("cannot be fetched: it is no address")


# --- what goes wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "kind", "problem"),
    [
        (OSError("no such name"), "connection", "its host cannot be resolved (OSError)"),
        (UnicodeError("too long"), "bad-request", "its host cannot be resolved (UnicodeError)"),
        ((), "connection", "its host has no address"),
        (("nowhere",), "bad-request", "its host cannot be resolved (ValueError)"),
    ],
)
async def test_a_name_that_cannot_be_resolved(
    found: Exception | tuple[str, ...], kind: str, problem: str
) -> None:
    """It may be tried again if the network was at fault."""

    def resolve(host: str, port: int) -> Iterable[str]:
        if isinstance(found, Exception):
            raise found
        return found

    reason = await fault(download_files(resolve=resolve), "https://example.org/a")

    assert isinstance(reason, ModelErrorReason)
    assert (reason.kind, reason.message) == (
        kind,
        f"the file at https://example.org/a cannot be fetched: {problem}",
    )


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("404 Not Found", "bad-request"),
        ("304 Not Modified", "bad-request"),
        ("302 Found", "bad-request"),
        ("429 Too Many Requests", "server"),
        ("503 Service Unavailable", "server"),
    ],
)
async def test_a_server_that_gives_no_file(server: ByteServer, status: str, kind: str) -> None:
    """It is told by its status; some may be better later."""
    server.says(answers(status))
    reason = await fault(_fetched, server.url)

    assert (
        reason
        == ModelErrorReason(
            kind,  # type: ignore[arg-type]
            f"the file at {server.url} cannot be fetched: the server answered {status[:3]}",
        )
    )


async def test_a_server_that_does_not_answer(server: ByteServer) -> None:
    """At none of its addresses."""
    download = download_files(
        allowed_networks=["127.0.0.0/8"], resolve=resolving(example_org="127.0.0.2 127.0.0.3")
    )
    url = named(server, "example.org")
    reason = await fault(download, url)

    assert isinstance(reason, ModelErrorReason)
    assert reason.kind == "connection"
    assert reason.message.startswith(f"the file at {url} cannot be fetched: example.org: ")


def test_a_server_that_does_not_answer_without_an_event_loop(server: ByteServer) -> None:
    """At none of its addresses."""
    download = download_files(
        allowed_networks=["127.0.0.0/8"], resolve=resolving(example_org="127.0.0.2")
    )

    async def fetched() -> object:
        return await fault(download, named(server, "example.org"))

    reason = without_loop(fetched())
    assert isinstance(reason, ModelErrorReason)
    assert reason.kind == "connection"


@pytest.mark.parametrize(
    "response",
    [
        answers("200 OK", body=b"hello"),
        b"HTTP/1.1 200 OK\r\n\r\nhello",  # of a size that nobody said before
    ],
)
async def test_a_file_that_is_too_large_is_given_up(server: ByteServer, response: bytes) -> None:
    """At once where its size is told."""
    server.says(response)
    reason = await fault(lambda url: _fetched(url, DownloadLimits(size=4)), server.url)

    assert reason == ModelErrorReason(
        "bad-request",
        f"the file at {server.url} cannot be fetched: it is larger than 4 bytes",
    )


async def test_redirects_end(server: ByteServer) -> None:
    """As many as were agreed."""
    for _ in range(3):
        server.says(answers("307 Temporary Redirect", "location: again"))
    reason = await fault(lambda url: _fetched(url, DownloadLimits(redirects=2)), server.url)

    assert reason == ModelErrorReason(
        "bad-request",
        f"the file at {server.url} cannot be fetched: it redirects more than 2 times",
    )


async def test_a_file_that_takes_too_long_is_given_up(server: ByteServer) -> None:
    """However the server spends the time."""
    server.says(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe", then="stall")
    reason = await fault(lambda url: _fetched(url, DownloadLimits(seconds=0.1)), server.url)

    assert isinstance(reason, ModelErrorReason)
    assert reason.kind == "timeout"


def test_a_file_that_takes_too_long_is_given_up_without_an_event_loop(
    server: ByteServer,
) -> None:
    """Between two pieces, and when nothing comes."""
    server.says(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe", then="stall")
    with pytest.raises(ModelError) as failed:
        without_loop(_fetched(server.url, DownloadLimits(seconds=0.1)))

    assert failed.value.reason.kind == "timeout"


@pytest.mark.parametrize(
    "figures", [{"size": 0}, {"seconds": 0.0}, {"redirects": -1}, {"seconds": float("nan")}]
)
def test_limits_leave_room(figures: dict[str, int]) -> None:
    """Nothing could be fetched otherwise."""
    with pytest.raises(UsageError, match="DownloadLimits: expected positive figures"):
        DownloadLimits(**figures)


def test_the_socket_module_is_what_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the same address is one."""
    twice = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80))] * 2
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: twice)

    assert tuple(resolve_host("example.org", 80)) == ("8.8.8.8",)
