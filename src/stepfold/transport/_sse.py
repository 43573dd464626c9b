"""Server-sent events, without I/O: bytes in, events out, whatever the chunks.

The format is that of the HTML standard (section 9.2.6, "Interpreting an event stream"):

* lines end with LF, CR or CRLF, also where a chunk ends between CR and LF;
* an empty line ends an event; one without `data` is none, and its type is forgotten;
* a line that starts with a colon is a comment; one space after a field's colon is dropped;
* a byte order mark is dropped at the very start only; bytes that are no UTF-8 become U+FFFD.

One deliberate difference: an event that the end of the stream cuts off is delivered by `end`,
since several servers leave out the last empty line. Whether its text is whole is for the reader
of the events to say.

Time is linear in the bytes, also for one event in many chunks: pieces are joined when their end
has come.
"""

from typing import final

from attrs import frozen

from stepfold.values import ModelError, ModelErrorReason

DEFAULT_EVENT_LIMIT = 8_388_608
_BOM = b"\xef\xbb\xbf"
_LF = 10


@final
@frozen(order=False)
class SseEvent:
    """One event: its data lines joined by LF, its type, and the last id that the stream gave."""

    data: str
    event: str = "message"
    id: str = ""


@final
class SseDecoder:
    """Decode an event stream chunk by chunk; any chunking gives the same events.

    An event longer than `limit` bytes ends the stream: the call that meets it returns the events
    before it, and the next call raises; where there are none before it, the call itself raises.
    """

    __slots__ = (
        "_after_cr",
        "_at_start",
        "_fault",
        "_id",
        "_is_between",
        "_limit",
        "_open_line",
        "_pieces",
        "_retry",
        "_size",
    )

    def __init__(self, limit: int = DEFAULT_EVENT_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._open_line = False
        self._after_cr = False
        self._at_start = True
        self._is_between = False
        self._id = ""
        self._retry: int | None = None
        self._fault: ModelErrorReason | None = None

    @property
    def retry(self) -> int | None:
        """How long the server asks to wait before reconnecting, in milliseconds."""
        return self._retry

    def feed(self, chunk: bytes) -> tuple[SseEvent, ...]:
        """The events that this chunk completes.

        Raises:
            ModelError: of kind `protocol`, when an event exceeds the limit.
        """
        found: list[SseEvent] = []
        for block in self._blocks(chunk):
            event = self._event(block)
            if event is not None:
                found.append(event)
        return tuple(found)

    def feed_data(self, chunk: bytes) -> list[str]:
        """The data alone of the events that this chunk completes: twice as fast as `feed`.

        Raises:
            ModelError: of kind `protocol`, when an event exceeds the limit.
        """
        found: list[str] = []
        for block in self._blocks(chunk):
            if block.startswith(b"data: ") and b"\n" not in block:
                found.append(block[6:].decode("utf-8", "replace"))
            elif block:
                event = self._event(block)
                if event is not None:
                    found.append(event.data)
        return found

    def end_data(self) -> list[str]:
        """The data alone of the event, if any, that lacks its last empty line.

        Raises:
            ModelError: of kind `protocol`, when an event has exceeded the limit.
        """
        self._at_start = False
        return self.feed_data(b"\n\n")

    def end(self) -> tuple[SseEvent, ...]:
        """The event, if any, that lacks its last empty line.

        Raises:
            ModelError: of kind `protocol`, when an event has exceeded the limit.
        """
        # A mark that never became whole is no line of the stream; two line ends complete any.
        self._at_start = False
        return self.feed(b"\n\n")

    def _blocks(self, chunk: bytes) -> list[bytes]:
        """The lines of the events that this chunk completes, with LF as the only line end."""
        # Most chunks are one event of one line, and begin where an event has ended.
        if (
            self._is_between
            and chunk.endswith(b"\n\n")
            and chunk.find(b"\n") == len(chunk) - 2
            and b"\r" not in chunk
            and len(chunk) <= self._limit
        ):
            return [chunk[:-2]]
        if self._fault is not None:
            raise ModelError(self._fault)
        if self._at_start:
            chunk = self._without_mark(chunk)
        if self._after_cr or b"\r" in chunk:
            chunk = self._with_newlines(chunk)
        if not chunk:
            return []
        self._is_between = False
        ended = b"\n\n" in chunk or (chunk[0] == _LF and not self._open_line)
        self._open_line = chunk[-1] != _LF
        if not ended:
            self._keep(chunk)
            return self._within_limit([])
        if self._pieces:
            self._pieces.append(chunk)
            chunk = b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0
        blocks = chunk.split(b"\n\n")
        rest = blocks.pop()
        if rest:
            self._keep(rest)
        else:
            self._is_between = not (self._after_cr or self._open_line)
        return self._within_limit(blocks) if len(chunk) > self._limit else blocks

    def _without_mark(self, chunk: bytes) -> bytes:
        """Drop the byte order mark, holding back what may become one."""
        chunk = b"".join((*self._pieces, chunk))
        self._pieces.clear()
        if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
            self._pieces.append(chunk)
            return b""
        self._at_start = False
        return chunk.removeprefix(_BOM)

    def _with_newlines(self, chunk: bytes) -> bytes:
        """Make each line end a LF; one after a CR that ended the last chunk is its other half."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk

    def _keep(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)

    def _within_limit(self, blocks: list[bytes]) -> list[bytes]:
        """The blocks before the first that is too long; what is still open counts as the last."""
        limit = self._limit
        within: list[bytes] = []
        for block in blocks:
            if len(block) > limit and len(block.strip(b"\n")) > limit:
                break
            within.append(block)
        else:
            # At most one line end before and one after an open block belong to no event.
            if self._size <= limit + 2:
                return within
        self._pieces.clear()
        self._is_between = False
        self._fault = ModelErrorReason(
            "protocol", f"an event of the stream is longer than {limit} bytes"
        )
        if not within:
            raise ModelError(self._fault)
        return within

    def _event(self, block: bytes) -> SseEvent | None:
        if block.startswith(b"data: ") and b"\n" not in block:
            return SseEvent(block[6:].decode("utf-8", "replace"), "message", self._id)
        data: list[str] = []
        kind = ""
        for line in block.decode("utf-8", "replace").split("\n"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                data.append(value)
            elif name == "event":
                kind = value
            elif name == "id":
                if "\0" not in value:
                    self._id = value
            elif name == "retry" and value.isascii() and value.isdigit() and len(value) < 19:
                self._retry = int(value)
        return SseEvent("\n".join(data), kind or "message", self._id) if data else None
