"""Files of a prompt that the model's provider does not fetch: they are fetched for one run, once.

The state keeps addresses, never what they hold, so a journal stays small and a replay needs no
network. A message with files is made anew once for each model; that new message is the same object
in every later prompt, so what a provider remembers of it is found again.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar, final

import anyio
from attrs import evolve

from stepfold.ports import (
    BLOCKING,
    Download,
    Downloaded,
    LanguageModel,
    SupportedUrls,
    model_name,
    supported_urls_of,
    supports_url,
)
from stepfold.values import (
    AssistantMessage,
    AssistantPart,
    ContentOutput,
    Custom,
    Failure,
    File,
    FileBytes,
    FileUrl,
    Message,
    ModelError,
    ModelErrorReason,
    ModelRequest,
    Success,
    SystemMessage,
    Text,
    ToolMessage,
    ToolPart,
    ToolResult,
    UserMessage,
    media_type_of,
    parse_data_url,
)

A = TypeVar("A", AssistantPart, ToolPart)
P = TypeVar("P", Text | File, Text | File | Custom)

_AT_ONCE = 8
_SHOWN = 100


@final
class RunFiles:
    """The files of one run."""

    __slots__ = ("_base", "_download", "_fetched", "_has_files", "_known", "_seen")

    def __init__(self, download: Download | None) -> None:
        self._download = download
        self._base: object = None
        self._seen = 0
        self._has_files = False
        self._fetched: dict[str, Downloaded | None] = {}
        self._known: dict[str, tuple[tuple[Message, ...], tuple[Message, ...]]] = {}

    def may_be_in(self, messages: tuple[Message, ...], base: object) -> bool:
        """Whether any prompt of the run may have held a file by its address.

        Looks at messages that it has not seen yet; `base` is what a prepare function put in place
        of the history, under which prompts only grow.
        """
        if self._has_files:
            return True
        if base is not self._base:
            self._base, self._seen = base, 0
        self._has_files = _may_hold_files(messages[self._seen :])
        self._seen = len(messages)
        return self._has_files

    async def filled(self, model: LanguageModel, request: ModelRequest) -> ModelRequest:
        """The request with the content of those files that the provider does not fetch itself.

        Raises:
            ModelError: a file cannot be had.
        """
        supported, name = supported_urls_of(model), model_name(model)
        messages = request.messages
        given, done = self._known.get(name, ((), ()))
        if messages[: len(given)] != given:
            given, done = (), ()
        fresh = messages[len(given) :]
        files = [file for message in fresh for file in _addressed(message)]
        await self._fetch(dict.fromkeys(_wanted(files, supported)))
        done = (*done, *(self._filled(message, supported) for message in fresh))
        self._known[name] = (messages, done)
        return evolve(request, messages=done)

    async def _fetch(self, urls: Iterable[str]) -> None:
        """Fetch what is not here yet, several at once; the first that fails, in order, counts."""
        download = self._download
        missing = [url for url in urls if url not in self._fetched]
        if download is None or not missing:
            return
        if BLOCKING.get() or len(missing) == 1:
            for url in missing:
                self._fetched[url] = await _downloaded(download, url)
            return
        faults: dict[str, Exception] = {}
        room = anyio.Semaphore(_AT_ONCE)

        async def fetch(url: str) -> None:
            async with room:
                try:
                    self._fetched[url] = await _downloaded(download, url)
                except Exception as error:  # noqa: BLE001 - raised below, in no group
                    faults[url] = error

        async with anyio.create_task_group() as group:
            for url in missing:
                group.start_soon(fetch, url)
        for url in missing:
            if url in faults:
                raise faults[url]

    def _filled(self, message: Message, supported: SupportedUrls | None) -> Message:
        if not any(True for _ in _addressed(message)):
            return message
        match message:
            case UserMessage(content):
                return evolve(
                    message, content=tuple(self._file(part, supported) for part in content)
                )
            case AssistantMessage(said):
                return evolve(message, content=tuple(self._part(part, supported) for part in said))
            case ToolMessage(told):
                return evolve(message, content=tuple(self._part(part, supported) for part in told))
            case SystemMessage():
                return message

    def _part(self, part: A, supported: SupportedUrls | None) -> A:
        if not isinstance(part, ToolResult) or not isinstance(part.output, ContentOutput):
            return part
        value = tuple(self._file(one, supported) for one in part.output.value)
        return evolve(part, output=evolve(part.output, value=value))

    def _file(self, part: P, supported: SupportedUrls | None) -> P:
        """The part with its content, if that is here and the provider does not fetch it."""
        if not isinstance(part, File) or not isinstance(part.data, FileUrl):
            return part
        url = part.data.url
        if _is_data(url):
            said, data = _decoded(url)
            return evolve(part, data=FileBytes(data), media_type=said or part.media_type)
        found = None if _is_left(part, url, supported) else self._fetched.get(url)
        if found is None:
            return part
        return evolve(part, data=FileBytes(found.data), media_type=_type_of(part, found))


def _may_hold_files(messages: Iterable[Message]) -> bool:
    """Whether it is worth to look closer; nothing is made here, since every step asks."""
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        for part in message.content:
            if isinstance(part, File):
                return True
            if isinstance(part, ToolResult) and isinstance(part.output, ContentOutput):
                return True
    return False


def _addressed(message: Message) -> Iterator[File]:
    """The files that a message gives by their addresses, where a model reads them."""
    if isinstance(message, UserMessage):
        yield from _by_address(message.content)
    elif isinstance(message, ToolMessage | AssistantMessage):
        for answer in message.content:
            if isinstance(answer, ToolResult) and isinstance(answer.output, ContentOutput):
                yield from _by_address(answer.output.value)


def _by_address(parts: Iterable[Text | File | Custom]) -> Iterator[File]:
    for part in parts:
        if isinstance(part, File) and isinstance(part.data, FileUrl):
            yield part


def _wanted(files: Iterable[File], supported: SupportedUrls | None) -> Iterator[str]:
    for file in files:
        if isinstance(file.data, FileUrl):
            url = file.data.url
            if not _is_data(url) and not _is_left(file, url, supported):
                yield url


def _is_data(url: str) -> bool:
    return url[:5].lower() == "data:"


def _is_left(file: File, url: str, supported: SupportedUrls | None) -> bool:
    """Whether the address goes to the provider as it is."""
    return supported is None or supports_url(supported, file.media_type, url)


def _type_of(file: File, found: Downloaded) -> str:
    """The type that was declared; if that is half of one, the whole that is shown, else said."""
    declared = file.media_type
    half, _, rest = declared.partition("/")
    if rest not in {"", "*"}:
        return declared
    for whole in (media_type_of(found.data), found.media_type):
        if whole is not None and whole.startswith(f"{half.lower()}/"):
            return whole
    return declared


def _decoded(url: str) -> tuple[str | None, bytes]:
    match parse_data_url(url):
        case Success(found):
            return found
        case Failure(problem):
            shown = url if len(url) <= _SHOWN else f"{url[:_SHOWN]}…"
            message = f"the file at {shown} cannot be read: {problem}"
            raise ModelError(ModelErrorReason("bad-request", message))


async def _downloaded(download: Download, url: str) -> Downloaded | None:
    try:
        return await download(url)
    except ModelError:
        raise
    except Exception as error:
        message = f"the download of {url[:_SHOWN]} raised {type(error).__name__}"
        raise ModelError(ModelErrorReason("unknown", message)) from error
