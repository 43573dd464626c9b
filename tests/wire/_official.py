"""Official clients beside ours: the same call, sent to a server that keeps what it is sent."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TypeAlias, final

from attrs import field, frozen
from typing_extensions import TypeIs, override

from stepfold.values import File, JsonText, ModelRequest, ToolDefinition, UserMessage

Json: TypeAlias = dict[str, object]

SCHEMA: Json = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = ToolDefinition("weather", "Look up the weather.", JsonText.of(SCHEMA))
HELLO = UserMessage("Hi")
IMAGE = File(b"\x89PNG", "image/png")
PHOTO = File("https://example.com/a.png", "image/png")
PAPER = File(b"%PDF-1.7", "application/pdf", filename="a.pdf")


@final
@frozen(order=False)
class Case:
    """A call: as a request of ours, and as arguments of the official client.

    `differences` are the members, as paths, in which the bodies differ, each with the reason.
    """

    name: str
    request: ModelRequest
    theirs: Json
    differences: Mapping[str, str] = field(factory=dict)
    options: Json = field(factory=dict)
    """What our model is made with, beside its name."""

    @override
    def __str__(self) -> str:
        return self.name


@final
class CapturingServer:
    """Answers every request alike, and keeps the body."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        self.content_type = "application/json"
        self.answer = b"{}"

    def will(self, answer: bytes, content_type: str = "application/json") -> None:
        """Answer so from now on."""
        self.answer, self.content_type = answer, content_type

    def last(self) -> Json:
        """The last body."""
        value: object = json.loads(self.bodies[-1])
        assert is_object(value)
        return value


def is_object(value: object) -> TypeIs[Json]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


@contextmanager
def capturing() -> Iterator[CapturingServer]:
    """A server on this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            server.paths.append(self.path)
            server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-type", server.content_type)
            self.send_header("content-length", str(len(server.answer)))
            self.end_headers()
            self.wfile.write(server.answer)

        @override
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = CapturingServer(f"http://127.0.0.1:{listener.server_address[1]}")
    thread = Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def assert_alike(ours: Json, theirs: Json, differences: Mapping[str, str]) -> None:
    """Two bodies are equal, up to differences that are listed, and that there are."""
    for path in differences:
        one, other = _taken(ours, path), _taken(theirs, path)
        assert one != other, f"{path} does not differ any more: take it from the list"
    assert ours == theirs, "\n".join(_differences("", ours, theirs))


def _differences(path: str, ours: object, theirs: object) -> Iterator[str]:
    if is_object(ours) and is_object(theirs):
        for name in {**ours, **theirs}:
            inner = f"{path}.{name}".lstrip(".")
            yield from _differences(inner, ours.get(name), theirs.get(name))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _differences(f"{path}.{number}", one, other)
    elif ours != theirs:
        yield f"{path}: ours {ours!r}, theirs {theirs!r}"


def _taken(tree: object, path: str) -> object:
    """Take out a member; `None` where there is none."""
    *parents, name = path.split(".")
    for parent in parents:
        if isinstance(tree, list):
            tree = tree[int(parent)]
        elif is_object(tree):
            tree = tree.get(parent)
    return tree.pop(name, None) if is_object(tree) else None
