"""The check of a stream transform: what it shows does not depend on where the text was cut."""

from collections.abc import Iterable, Sequence
from typing import Final, cast, final

from attrs import evolve

from stepfold.agent import Pause, StreamControl, StreamTransform
from stepfold.loop import parts_of
from stepfold.loop.notes import RunEnded, StepStarted
from stepfold.shell import CancelHandle, RunPart
from stepfold.testing.conformance._drawn import broken, hold, require_hypothesis
from stepfold.values import (
    Completed,
    FinishReason,
    JsonText,
    ModelReply,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyPart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    Usage,
    UsageError,
)

_LAST: Final = RunEnded(Completed(JsonText.of("")))
_CALL: Final = ToolCall("call", "look", '{"key":1}')
_TEXTS: Final = ("a", "Hello, world. ", "one\ntwo\n\n", "  ", "é", "1234 5678 9012 3456")


def check_transform(
    transform: StreamTransform,
    *,
    texts: Sequence[str] = (),
    is_lossless: bool = False,
    examples: int = 100,
) -> None:
    """Check a stream transform against the law of guarded streams (law 18).

    It is given drawn streams, each cut in two ways. Give `texts` that it looks for, such as one
    that it hides. A transform keeps the law if

    - it raises nothing and gives parts and `Pause`s;
    - the text of a stream is shown alike wherever the model's deltas were cut, all of it by the
      time that the last part is shown, which is the last of the run;
    - text comes in blocks that were begun and have not ended;
    - what it does in one stream depends on that stream alone;
    - with `is_lossless`, the text and all other parts are those that came, in their order.

    Raises:
        AssertionError: a law does not hold; the text tells the smallest stream that breaks it.
        UsageError: this is no function, or hypothesis (the extra `testing`) is missing.
    """
    require_hypothesis("check_transform")
    from hypothesis import strategies as st

    made: object = transform
    if not callable(made):
        msg = f"check_transform: expected a function of StreamControl, got {made!r:.200}"
        raise UsageError(msg)

    def check(drawn: tuple[ModelReply, Sequence[int]]) -> None:
        reply, sizes = drawn
        whole = _stream(reply, ())
        cut = _stream(reply, sizes)
        as_whole, as_cut = _shown(transform, whole), _shown(transform, cut)
        _in_blocks(as_cut, cut)
        _ended(as_cut, cut)
        if _joined(as_whole) != _joined(as_cut):
            broken(
                "a transform shows a text alike wherever it was cut",
                stream=told(whole),
                whole=told(as_whole),
                cut=f"as {told(cut)}",
                came=told(as_cut),
            )
        beside = _beside(transform, cut, whole)
        if beside != as_cut:
            broken(
                "what a transform shows of one stream depends on that stream alone",
                stream=told(cut),
                alone=told(as_cut),
                came=f"{told(beside)}, while another stream was shown",
            )
        if is_lossless and _joined(as_cut) != _joined(cut):
            broken(
                "a lossless transform shows what came, in its order",
                stream=told(cut),
                came=told(as_cut),
            )

    said = st.sampled_from([*_TEXTS, *texts])
    mixed = st.lists(said, min_size=1, max_size=3).map("".join)
    parts: st.SearchStrategy[ReplyPart] = st.one_of(
        mixed.map(Text), mixed.map(Reasoning), st.just(_CALL)
    )
    replies = st.lists(parts, max_size=3).map(lambda content: _reply(*content))
    sizes = st.lists(st.integers(1, 3), min_size=1, max_size=4)
    hold(check, st.tuples(replies, sizes), examples=examples)


def _reply(*content: ReplyPart) -> ModelReply:
    calls = any(isinstance(part, ToolCall) for part in content)
    return ModelReply(content, FinishReason("tool-calls" if calls else "stop"), Usage(1, 1))


def _stream(reply: ModelReply, sizes: Sequence[int]) -> list[RunPart]:
    """A reply as a run streams it, its text cut into pieces of these sizes, over and over."""
    parts: list[RunPart] = [StepStarted(0, "scripted/model")]
    for part in parts_of(reply):
        if sizes and isinstance(part, TextDelta | ReasoningDelta):
            parts += [evolve(part, delta=piece) for piece in _pieces(part.delta, sizes)]
        else:
            parts.append(part)
    return [*parts, _LAST]


def _pieces(text: str, sizes: Sequence[int]) -> Iterable[str]:
    place = number = 0
    while place < len(text):
        size = sizes[number % len(sizes)]
        yield text[place : place + size]
        place, number = place + size, number + 1


@final
class _Showing:
    """A transform in one stream."""

    def __init__(self, transform: StreamTransform) -> None:
        self._take: Final = transform(StreamControl(CancelHandle()))

    def of(self, part: RunPart, stream: Sequence[RunPart]) -> list[RunPart]:
        """What is shown of the next part."""
        try:
            shown: list[object] = [*self._take(part)]
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            broken(
                "a transform must not raise",
                stream=told(stream),
                at=told([part]),
                came=f"{type(error).__name__}: {error}",
            )
        for item in shown:
            if type(item).__module__.split(".")[0] != "stepfold":
                broken(
                    "a transform gives parts of a stream, and pauses",
                    stream=told(stream),
                    at=told([part]),
                    came=f"{item!r:.200}",
                )
        return [cast("RunPart", item) for item in shown if not isinstance(item, Pause)]


def _shown(transform: StreamTransform, stream: Sequence[RunPart]) -> list[RunPart]:
    showing = _Showing(transform)
    return [shown for part in stream for shown in showing.of(part, stream)]


def _beside(
    transform: StreamTransform, stream: Sequence[RunPart], other: Sequence[RunPart]
) -> list[RunPart]:
    """What is shown of a stream while another one is, part by part."""
    showing, besides = _Showing(transform), _Showing(transform)
    shown: list[RunPart] = []
    for number, part in enumerate(stream):
        if number < len(other):
            besides.of(other[number], other)
        shown += showing.of(part, stream)
    return shown


def _in_blocks(shown: Sequence[RunPart], stream: Sequence[RunPart]) -> None:
    open_blocks: set[str] = set()
    for part in shown:
        match part:
            case TextStart(id) | ReasoningStart(id):
                open_blocks.add(id)
            case TextEnd(id) | ReasoningEnd(id):
                open_blocks.discard(id)
            case TextDelta(id) | ReasoningDelta(id) if id not in open_blocks:
                broken(
                    "text is shown in a block that was begun and has not ended",
                    stream=told(stream),
                    came=told(shown),
                )
            case _:
                pass


def _ended(shown: Sequence[RunPart], stream: Sequence[RunPart]) -> None:
    if not shown or shown[-1] != _LAST:
        broken(
            "the last part that is shown is that of the run",
            stream=told(stream),
            came=told(shown),
        )


def _joined(parts: Iterable[RunPart]) -> list[RunPart]:
    """The parts; deltas of a block that follow each other are put together, empty ones left out."""
    joined: list[RunPart] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, TextDelta | ReasoningDelta):
            if not part.delta and part.provider_options is None:
                continue
            if (
                isinstance(last, TextDelta | ReasoningDelta)
                and (type(last), last.id) == (type(part), part.id)
                and last.provider_options is None
                and part.provider_options is None
            ):
                joined[-1] = evolve(last, delta=last.delta + part.delta)
                continue
        joined.append(part)
    return joined


def told(parts: Sequence[RunPart]) -> str:
    """A stream in few words: its text as it was cut, and the names of all other parts."""
    words = (
        repr(part.delta) if isinstance(part, TextDelta | ReasoningDelta) else type(part).__name__
        for part in parts
    )
    return " ".join(words) or "nothing"
