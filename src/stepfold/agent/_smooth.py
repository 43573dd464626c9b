"""`smooth_stream`: text at an even pace, in words or lines."""

import math
import re
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias, final

from attrs import evolve
from typing_extensions import TypeIs

from stepfold.agent._transforms import PartTransform, Pause, StreamControl, StreamTransform
from stepfold.shell import RunPart
from stepfold.values import Ping, ReasoningDelta, TextDelta, UsageError

Chunking: TypeAlias = Literal["word", "line"] | re.Pattern[str] | Callable[[str], str | None]
"""Where text is cut: after words, after lines, after what a pattern finds, or as a function says.

The function is given the text that is held, and gives the beginning of it that can be shown, or
`None` if there is none yet.
"""

_PATTERNS = {"word": re.compile(r"\S+\s+"), "line": re.compile(r"\n+")}


def smooth_stream(*, delay: float | None = 0.01, chunking: Chunking = "word") -> StreamTransform:
    """Show text and reasoning in even chunks, each with a pause after it.

    What is held is shown as it is, without a pause, when anything else comes (but a `Ping`), also
    a delta of another block; so no order changes and nothing is lost, wherever the model's deltas
    were cut. A delta with provider options is never joined with others.

    Args:
        delay: Seconds between two chunks, on the clock of the run; `None` for no pause.
        chunking: Where text is cut.

    Raises:
        UsageError: an argument is wrong; while streaming, a function gave what is no beginning of
            the text.
    """
    if delay is not None and not 0 <= delay < math.inf:
        raise UsageError(f"smooth_stream: expected a delay in seconds or None, got {delay!r}")
    detect = _detector(chunking)
    pause = None if delay is None else Pause(int(delay * 1_000_000_000))

    def made(_: StreamControl) -> PartTransform:
        return _Smoothing(detect, pause).take

    return made


def _detector(chunking: object) -> Callable[[str], str | None]:
    pattern = _PATTERNS.get(chunking) if isinstance(chunking, str) else chunking
    if _is_pattern(pattern):
        search = pattern.search

        def found(text: str) -> str | None:
            match = search(text)
            return None if match is None else text[: match.end()]

        return found
    if callable(pattern):
        asked: Callable[[str], object] = pattern
        return lambda text: _beginning(asked(text), text)
    raise UsageError(
        "smooth_stream: expected chunking to be 'word', 'line', a compiled pattern or a function, "
        f"got {chunking!r:.200}"
    )


def _is_pattern(given: object) -> TypeIs[re.Pattern[str]]:
    return isinstance(given, re.Pattern)


def _beginning(given: object, text: str) -> str | None:
    if given is None or (isinstance(given, str) and given and text.startswith(given)):
        return given
    raise UsageError(
        "smooth_stream: expected chunking to give a beginning of the text that is not empty, or "
        f"None, got {given!r:.100} of {text!r:.100}"
    )


@final
class _Smoothing:
    """Holds the text of one block at a time."""

    def __init__(self, detect: Callable[[str], str | None], pause: Pause | None) -> None:
        self._detect = detect
        self._pauses = () if pause is None else (pause,)
        self._held: TextDelta | ReasoningDelta | None = None

    def take(self, part: RunPart) -> Iterator[RunPart | Pause]:
        """Take a part, and give what can be shown."""
        if isinstance(part, Ping):
            yield part
            return
        if not isinstance(part, TextDelta | ReasoningDelta) or part.provider_options is not None:
            yield from self._flush()
            yield part
            return
        held = self._held
        if held is not None and (type(held), held.id) == (type(part), part.id):
            part = evolve(part, delta=held.delta + part.delta)
        else:
            yield from self._flush()
        yield from self._cut(part)

    def _flush(self) -> Iterator[RunPart]:
        held, self._held = self._held, None
        if held is not None:
            yield held

    def _cut(self, part: TextDelta | ReasoningDelta) -> Iterator[RunPart | Pause]:
        text = part.delta
        while text and (chunk := self._detect(text)):
            text = text[len(chunk) :]
            yield evolve(part, delta=chunk)
            yield from self._pauses
        self._held = evolve(part, delta=text) if text else None
