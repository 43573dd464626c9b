"""Middleware that reads the text of a reply: reasoning between tags, JSON in fences.

What is read does not depend on where a stream was cut, nor on how its blocks are interleaved.
Text is held back only while it may be the beginning of something that is not shown.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, final

from attrs import evolve

from stepfold.ports import LanguageModel, Middleware
from stepfold.shell._middleware_layers import PartReader, ReadingLayer
from stepfold.values import (
    Finish,
    JsonText,
    Ping,
    Raw,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    UsageError,
)

# --- reasoning --------------------------------------------------------------------------------


def extract_reasoning(
    *,
    tag: str | None = None,
    opening: str | None = None,
    closing: str | None = None,
    separator: str = "\n",
    starts_with_reasoning: bool = False,
) -> Middleware:
    """Make reasoning of the text between two tags, such as `<think>` and `</think>`.

    Each stretch between tags becomes a reasoning part; what is left of a block is one text part,
    which stands where its first text was. A block whose closing tag never comes ends in reasoning.
    While a text block is open, the content that was started after it waits.

    Args:
        tag: The name of the tag: `think` means `<think>` and `</think>`.
        opening: What reasoning begins with, given together with `closing` instead of `tag`.
        closing: What reasoning ends with.
        separator: Put between two stretches of text, and between two of reasoning.
        starts_with_reasoning: The reply begins inside of reasoning, without the opening tag.

    Raises:
        UsageError: not exactly one of `tag` and the pair is given, or a delimiter is empty.
    """
    tags = _tags(tag, opening, closing)

    def reader() -> PartReader:
        return _ReasoningReading(*tags, separator, starts_with_reasoning=starts_with_reasoning).read

    return lambda model: ReadingLayer(model, reader)


def _tags(tag: str | None, opening: str | None, closing: str | None) -> tuple[str, str]:
    if tag is not None and opening is None and closing is None:
        if not tag:
            raise UsageError("extract_reasoning: expected the name of a tag, got an empty one")
        return f"<{tag}>", f"</{tag}>"
    if tag is not None or opening is None or closing is None:
        raise UsageError(
            "extract_reasoning: expected either tag, or opening and closing, got "
            f"tag={tag!r}, opening={opening!r}, closing={closing!r}"
        )
    if not opening or not closing:
        raise UsageError(
            "extract_reasoning: expected delimiters that are not empty, got "
            f"opening={opening!r}, closing={closing!r}"
        )
    return opening, closing


@final
class _ReasoningReading:
    """Reads one reply, one text block after the other in the order in which they start.

    Reasoning that is found in a block has its place there. So the content that starts after a
    block waits until the block has ended.
    """

    def __init__(
        self, opening: str, closing: str, separator: str, *, starts_with_reasoning: bool
    ) -> None:
        self._opening: Final = opening
        self._closing: Final = closing
        self._separator: Final = separator
        self._starts_with_reasoning: Final = starts_with_reasoning
        self._block: _TaggedBlock | None = None
        self._waiting: deque[StreamPart] = deque()
        self._reasoning_ids: set[str] = set()

    def read(self, part: StreamPart) -> Iterator[StreamPart]:
        match part:
            case Finish():
                while self._block is not None or self._waiting:
                    if self._block is not None:  # the reply ended within a block
                        yield from self._close(self._block)
                    yield from self._go_on()
                yield part
            case StreamStart() | ResponseMetadata() | StreamError() | Ping() | Raw():
                yield part  # these have no place in the content
            case _:
                is_end = isinstance(part, TextEnd)
                yield from self._take(part)
                if is_end and self._block is None and self._waiting:
                    yield from self._go_on()

    def _go_on(self) -> Iterator[StreamPart]:
        """Take what waits, as long as some of it can be taken."""
        has_ended = True
        while has_ended and self._waiting:
            has_ended = False
            rest = iter(self._waiting)
            self._waiting = deque()
            for part in rest:
                was_open = self._block is not None
                yield from self._take(part)
                if was_open and self._block is None:
                    has_ended = True
                    self._waiting.extend(rest)  # behind what was passed over: that came first

    def _take(self, part: StreamPart) -> Iterator[StreamPart]:
        block = self._block
        if block is None:
            if isinstance(part, TextStart):
                self._block = self._opened(part)
                return
            if isinstance(part, ReasoningStart):
                self._reasoning_ids.add(part.id)
            yield part
            return
        match part:
            case TextDelta(block.id, delta, provider_options=options):
                block.keep(options)
                yield from block.read(delta)
            case TextEnd(block.id, provider_options=options):
                block.keep(options)
                yield from self._close(block)
            case TextStart(block.id):
                yield part  # started twice: whoever folds the parts finds it
                yield part
            case _:
                self._waiting.append(part)

    def _close(self, block: "_TaggedBlock") -> Iterator[StreamPart]:
        self._block = None
        yield from block.close()

    def _opened(self, start: TextStart) -> "_TaggedBlock":
        return _TaggedBlock(
            start,
            self._opening,
            self._closing,
            self._separator,
            self._reasoning_id,
            is_reasoning=self._starts_with_reasoning,
        )

    def _reasoning_id(self) -> str:
        number = len(self._reasoning_ids)
        while (name := f"reasoning-{number}") in self._reasoning_ids:
            number += 1
        self._reasoning_ids.add(name)
        return name


@final
class _TaggedBlock:
    """Reads one text block, and holds back what may be the beginning of a tag."""

    def __init__(
        self,
        start: TextStart,
        opening: str,
        closing: str,
        separator: str,
        new_id: Callable[[], str],
        *,
        is_reasoning: bool,
    ) -> None:
        self.id: Final = start.id
        self._opening: Final = opening
        self._closing: Final = closing
        self._separator: Final = separator
        self._new_id: Final = new_id
        self._options = start.provider_options
        self._held = ""
        self._is_reasoning = is_reasoning
        self._has_switched = False
        self._has_text = False
        self._has_reasoning = False
        self._open_reasoning: str | None = None

    def keep(self, options: JsonText | None) -> None:
        """Remember the options of the block: they come with its end."""
        if options is not None:
            self._options = options

    def read(self, delta: str) -> Iterator[StreamPart]:
        text = self._held + delta
        while True:
            tag = self._closing if self._is_reasoning else self._opening
            at = text.find(tag)
            if at < 0:
                break
            yield from self._show(text[:at])
            yield from self._switch()
            text = text[at + len(tag) :]
        kept = _overlap(text, tag)
        self._held = text[len(text) - kept :]
        yield from self._show(text[: len(text) - kept])

    def close(self) -> Iterator[StreamPart]:
        yield from self._show(self._held)
        yield from self._end_reasoning()
        if not self._has_text:
            if self._has_reasoning and self._options is None:
                return  # nothing is left of the block
            yield TextStart(self.id)
        yield TextEnd(self.id, provider_options=self._options)

    def _switch(self) -> Iterator[StreamPart]:
        yield from self._end_reasoning()
        self._is_reasoning = not self._is_reasoning
        self._has_switched = True

    def _end_reasoning(self) -> Iterator[StreamPart]:
        if self._open_reasoning is not None:
            yield ReasoningEnd(self._open_reasoning)
            self._open_reasoning = None

    def _show(self, text: str) -> Iterator[StreamPart]:
        if not text:
            return
        is_first = not (self._has_reasoning if self._is_reasoning else self._has_text)
        if self._has_switched and not is_first:
            text = self._separator + text
        self._has_switched = False
        if self._is_reasoning:
            self._has_reasoning = True
            if self._open_reasoning is None:
                self._open_reasoning = self._new_id()
                yield ReasoningStart(self._open_reasoning)
            yield ReasoningDelta(self._open_reasoning, text)
        else:
            if not self._has_text:
                self._has_text = True
                yield TextStart(self.id)
            yield TextDelta(self.id, text)


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of the text may be the beginning of the tag."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0


# --- JSON -------------------------------------------------------------------------------------


def extract_json(transform: Callable[[str], str] | None = None, /) -> Middleware:
    """Take the fences of a code block (```` ```json ````) and white space from around each text.

    A stream holds back only what may belong to a fence or be white space at an end.

    Args:
        transform: What to do with each text instead; the whole text is then held back until its
            block is complete.
    """
    new_text: Callable[[], _FencedText | _WholeText] = (
        _FencedText if transform is None else lambda: _WholeText(transform)
    )

    def reader() -> PartReader:
        return _TextReading(new_text).read

    def extracted(model: LanguageModel) -> LanguageModel:
        return ReadingLayer(model, reader)

    return extracted


@final
class _TextReading:
    """Reads one reply, each text block by a reader of its own."""

    def __init__(self, new_text: "Callable[[], _FencedText | _WholeText]") -> None:
        self._new_text: Final = new_text
        self._open: dict[str, _FencedText | _WholeText] = {}

    def read(self, part: StreamPart) -> Iterator[StreamPart]:
        match part:
            case TextStart(block_id):
                self._open.setdefault(block_id, self._new_text())
                yield part
            case TextDelta(block_id, delta, provider_options=options) if block_id in self._open:
                text = self._open[block_id].read(delta)
                if text or options is not None:
                    yield evolve(part, delta=text)
            case TextEnd(block_id) if block_id in self._open:
                yield from self._close(block_id)
                yield part
            case Finish():
                for block_id in tuple(self._open):
                    yield from self._close(block_id)
                yield part
            case _:
                yield part

    def _close(self, block_id: str) -> Iterator[StreamPart]:
        text = self._open.pop(block_id).close()
        if text:
            yield TextDelta(block_id, text)


@final
class _WholeText:
    """Gathers a text and changes it when it is complete."""

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change: Final = change
        self._chunks: list[str] = []

    def read(self, delta: str) -> str:
        self._chunks.append(delta)
        return ""

    def close(self) -> str:
        return self._change("".join(self._chunks))


_FENCE: Final = "```"
_LANGUAGE: Final = "json"


@final
class _FencedText:
    """Reads a text as it comes, without a fence and white space at its ends."""

    def __init__(self) -> None:
        self._held = ""
        self._has_begun = False

    def read(self, delta: str) -> str:
        text = self._held + delta
        if not self._has_begun:
            text = text.lstrip()
            start = _start_of_content(text)
            if start is None:
                self._held = text
                return ""
            text = text[start:].lstrip()
            self._has_begun = bool(text)
            if not text:  # only the fence, so far: white space after it is not shown either
                self._held = _FENCE + _LANGUAGE
                return ""
        kept = _length_without_end(text)
        self._held = text[kept:]
        return text[:kept]

    def close(self) -> str:
        text = self._held
        if not self._has_begun:
            text = text.removeprefix(_FENCE).removeprefix(_LANGUAGE).lstrip()
        return text.rstrip().removesuffix(_FENCE).rstrip()


def _start_of_content(text: str) -> int | None:
    """Where the content begins; `None` while that is open."""
    if not text or (len(text) < len(_FENCE) and _FENCE.startswith(text)):
        return None
    if not text.startswith(_FENCE):
        return 0
    word = text[len(_FENCE) :]
    if len(word) < len(_LANGUAGE) and _LANGUAGE.startswith(word):
        return None
    return len(_FENCE) + len(_LANGUAGE) if word.startswith(_LANGUAGE) else len(_FENCE)


def _length_without_end(text: str) -> int:
    """How much of a text is certain: not the white space and up to three ticks at its end."""
    bare = text.rstrip()
    ticks = len(bare) - len(bare.rstrip("`"))
    if ticks:
        bare = bare[: len(bare) - min(ticks, len(_FENCE))]
        if ticks <= len(_FENCE):
            bare = bare.rstrip()
    return len(bare)
