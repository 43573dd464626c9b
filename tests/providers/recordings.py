"""Recorded traffic of real providers: which protocol each recording speaks, and what becomes of it.

The recordings lie in the folder that STEPFOLD_RECORDINGS names. The manifest beside the other
test data says what is expected of each; what is expected is read off the traffic by the plain
rules below, not by the codecs. `python -m tests.providers.recordings` writes it anew.
"""

import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, final

import pytest
from attrs import field, frozen
from typing_extensions import TypeIs

from stepfold.providers import PROTOCOLS, WireDecoder, protocol_named
from stepfold.values import StreamPart

FOLDER = os.environ.get("STEPFOLD_RECORDINGS", "")
MANIFEST = Path(__file__).parents[1] / "data" / "recordings.jsonl"
IS_HERE = bool(FOLDER) and Path(FOLDER, "vercel").is_dir()
SPOKEN = frozenset(entry.name for entry in PROTOCOLS)

recorded = pytest.mark.skipif(
    not IS_HERE, reason="STEPFOLD_RECORDINGS names no folder of recordings"
)

Json: TypeAlias = dict[str, object]
Form: TypeAlias = Literal["body", "stream"]
ResultKind: TypeAlias = Literal["reply", "error", "violation"]

# What is wrong with a recording, where the provider is not to blame.
VIOLATIONS = {
    "vercel/openai/responses/parallel-tool-call-wrapper.1.chunks.txt": "two lines are no JSON",
}
# Its deltas were shortened by hand, so that they say something else than its items.
SHORTENED = frozenset({"vercel/openai/responses/openai-shell-container.1.chunks.txt"})

_ABOUT = "it says what the recordings are"
_FOLDERS = {
    "vercel/amazon-bedrock": "bedrock-converse",
    "vercel/anthropic": "anthropic-messages",
    "vercel/azure": "openai-responses",
    "vercel/cohere": "cohere-chat",
    "vercel/deepseek/chat": "openai-chat",
    "vercel/google": "google-generate",
    "vercel/groq": "openai-chat",
    "vercel/mistral": "mistral-chat",
    "vercel/openai/chat": "openai-chat",
    "vercel/openai/responses": "openai-responses",
    "vercel/xai": "openai-chat",
    "vercel/xai/responses": "openai-responses",
}
_OTHER_FOLDERS = {
    "vercel/amazon-bedrock/reranking": "a reranking",
    "vercel/anthropic/skills": "an administration of skills",
    "vercel/cohere/reranking": "a reranking",
    "vercel/google/interactions": "an interaction, a protocol that is not spoken here",
    "vercel/openai/completion": "a completion of the old kind",
    "vercel/openai/image": "a generation of images",
    "vercel/openai/skills": "an administration of skills",
    "vercel/openai/speech-translation": "a translation of speech",
    "vercel/openai/transcription": "a transcription",
}
_OTHER_FILES = {
    "vercel/cohere/cohere-embedding.json": "an embedding",
    "vercel/mistral/mistral-transcription.json": "a transcription",
}
_PATHS = {
    ("anthropic.com", "/messages"): "anthropic-messages",
    ("amazonaws.com", "/converse"): "bedrock-converse",
    ("amazonaws.com", "/converse-stream"): "bedrock-converse",
    ("amazonaws.com", "/invoke"): "anthropic-messages",
    ("cohere.com", "/chat"): "cohere-chat",
    ("googleapis.com", "enerateContent"): "google-generate",
    ("mistral.ai", "/chat/completions"): "mistral-chat",
    ("", "/chat/completions"): "openai-chat",
    ("", "/responses"): "openai-responses",
    ("", "/responses/compact"): "openai-responses",
}
_OTHER_PATHS = {
    "count_tokens": "a count of tokens",
    "count-tokens": "a count of tokens",
    ":countTokens": "a count of tokens",
    "/input_tokens": "a count of tokens",
    "/files": "a management of files",
    "/conversations": "a management of conversations",
    "fileSearchStore": "a management of files",
    "/vector_stores": "a management of files",
    ".txt": "a download",
}


@final
@frozen(order=False)
class Recording:
    """One response: `name` is a path below the folder, with a number where there are several."""

    name: str
    protocol: str = ""
    form: Form = "body"
    status: int = 200
    data: bytes = field(default=b"", repr=False)
    out_of_scope: str = ""

    @property
    def file(self) -> str:
        """The file that it is in."""
        return self.name.partition("#")[0]

    @property
    def expected(self) -> ResultKind:
        """What is to come of it, by the word of the traffic itself."""
        if self.file in VIOLATIONS:
            return "violation"
        if self.status >= 400 or any(map(_is_error, self.events())):
            return "error"
        return "reply"

    def events(self) -> list[Json]:
        """The body, or the events of the stream, as far as they are JSON objects."""
        if self.form == "body":
            return [value] if is_object(value := json.loads(self.data)) else []
        lines = self.data.decode().splitlines()
        texts = (line.removeprefix("data:").strip() for line in lines if line.startswith("data:"))
        return [value for text in texts if is_object(value := _json_or_none(text))]

    def line(self) -> str:
        """Its line of the manifest."""
        if self.out_of_scope:
            entry = {"recording": self.name, "out_of_scope": self.out_of_scope}
        else:
            entry = {
                "recording": self.name,
                "protocol": self.protocol,
                "form": self.form,
                "outcome": self.expected,
            }
            if self.expected == "violation":
                entry["why"] = VIOLATIONS[self.file]
        return json.dumps(entry, ensure_ascii=False)


def is_object(value: object) -> TypeIs[Json]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def recordings(protocol: str = "", form: Form | None = None) -> Iterator[Recording]:
    """All recordings, sorted by file, or those of one protocol and form."""
    for path in sorted(path for path in Path(FOLDER).rglob("*") if path.is_file()):
        for recording in _recordings_in(path):
            if (not protocol or recording.protocol == protocol) and form in {None, recording.form}:
                yield recording


def decoded(recording: Recording, chunks: Sequence[bytes]) -> list[StreamPart]:
    """The parts of a stream."""
    decoder = decoder_for(recording)
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return [*parts, *decoder.end()]


def decoder_for(recording: Recording) -> WireDecoder:
    """What reads a recording's stream."""
    entry = protocol_named(recording.protocol)
    return entry.load().decoder(entry.provider)


def cut(data: bytes, chance: random.Random, pieces: int = 40) -> list[bytes]:
    """The bytes in pieces, some of which may be empty."""
    ends = [*sorted(chance.choices(range(len(data) + 1), k=pieces - 1)), len(data)]
    return [data[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


# --- what a file holds ------------------------------------------------------------------------


def _recordings_in(path: Path) -> Iterator[Recording]:
    name = path.relative_to(FOLDER).as_posix()
    folder = name.rpartition("/")[0]
    why = _OTHER_FILES.get(name) or _OTHER_FOLDERS.get(folder) or ("" if folder else _ABOUT)
    if why:
        yield Recording(name, out_of_scope=why)
    elif folder.startswith("pydantic/"):
        exchanges = json.loads(path.read_text("utf-8"))["exchanges"]
        for number, exchange in enumerate(exchanges):
            yield _of_exchange(f"{name}#{number}", exchange)
    elif name.endswith(".chunks.txt"):
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
        replies = list(_replies_in(lines))
        for number, reply in enumerate(replies):
            data = "".join(f"data: {line}\n\n" for line in reply).encode()
            which = f"{name}#{number}" if len(replies) > 1 else name
            yield Recording(which, _protocol_in(folder, data), "stream", data=data)
    else:
        data = path.read_bytes()
        status = 400 if "error" in json.loads(data) and json.loads(data)["error"] else 200
        yield Recording(name, _protocol_in(folder, data), status=status, data=data)


def _protocol_in(folder: str, data: bytes) -> str:
    is_chat = b"chat.completion" in data or b'"choices"' in data
    return "openai-chat" if folder == "vercel/azure" and is_chat else _FOLDERS[folder]


def _replies_in(lines: list[str]) -> Iterator[list[str]]:
    """A file of Anthropic's may hold the replies of several turns, one after another."""
    reply: list[str] = []
    for line in lines:
        reply.append(line)
        if line.startswith('{"type":"message_stop"'):
            yield reply
            reply = []
    if reply:
        yield reply


def _of_exchange(name: str, exchange: Json) -> Recording:
    url = str(exchange["url"]).partition("?")[0]
    host = url.split("/")[2]
    status, response = exchange["status"], exchange["response"]
    assert isinstance(status, int)
    read_again = "/responses/resp_" in url and exchange["method"] == "GET"
    path = url.rpartition("/resp_")[0] if read_again else url
    for (domain, ending), protocol in _PATHS.items():
        if host.endswith(domain) and path.endswith(ending):
            form, data = _response(response)
            return Recording(name, protocol, form, status, data)
    for ending, why in _OTHER_PATHS.items():
        if ending in url:
            return Recording(name, out_of_scope=why)
    raise AssertionError(f"{name}: say of {url} what it is")


def _response(response: object) -> tuple[Form, bytes]:
    match response:
        case {"sse": str(text)}:
            return "stream", text.encode()
        case {"text": str(text)}:
            return "body", text.encode()
        case _:
            return "body", json.dumps(response, ensure_ascii=False).encode()


def _is_error(event: Json) -> bool:
    response = event.get("response")
    failed = is_object(response) and response.get("status") == "failed"
    return event.get("type") == "error" or bool(event.get("error")) or failed


def _json_or_none(text: str) -> object:
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError:
        return None
    return value


def manifest() -> str:
    """What the manifest is to hold."""
    return "".join(f"{recording.line()}\n" for recording in recordings())


if __name__ == "__main__":
    MANIFEST.write_text(manifest(), "utf-8")
