"""The check of a stream transform: what it shows does not depend on where the text was cut."""

from collections.abc import Iterable, Sequence
from typing import Final, Never, cast, final

from attrs import evolve

from stepfold.agent import Pause, StreamControl, StreamTransform
from stepfold.loop import parts_of
from stepfold.loop.notes import RunEnded, StepStarted
from stepfold.shell import CancelHandle, RunPart
from stepfold.testing.conformance._drawn import hold, name_of, require_hypothesis
from stepfold.testing.conformance._findings import Findings, StatedLaw, break_law, findings_on
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

_END: Final = RunEnded(Completed(JsonText.of("")))
_CALL: Final = ToolCall("call", "look", '{"key":1}')
_TEXTS: Final = ("a", "Hello, world. ", "one\ntwo\n\n", "  ", "é", "1234 5678 9012 3456")

_RAISES: Final = StatedLaw("a transform raises nothing", "`part.delta.split()[0]`")
_PARTS: Final = StatedLaw("a transform gives parts of a stream, and pauses", "a text alone")
_ALIKE: Final = StatedLaw(
    "a transform shows a text alike wherever it was cut", "looking at one delta at a time"
)
_LAST: Final = StatedLaw(
    "the last part that is shown is that of the run", "holding back what comes at the end"
)
_BLOCKS: Final = StatedLaw(
    "text is shown in a block that was begun and has not ended", "letting text go too late"
)
_ALONE: Final = StatedLaw(
    "what is shown of a stream depends on that stream alone", "state outside of the inner function"
)
_LOSSLESS: Final = StatedLaw(
    "a lossless transform shows what came, in its order", "forgetting what is held back"
)

TRANSFORM_LAWS: Final = (_RAISES, _PARTS, _ALIKE, _LAST, _BLOCKS, _ALONE, _LOSSLESS)
"""What `check_transform` asks of a stream transform, in the order in which it is told."""


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

    - a transform raises nothing;
    - a transform gives parts of a stream, and pauses, each a `Pause`;
    - a transform shows a text alike wherever it was cut, all of it by the end of the run;
    - the last part that is shown is that of the run;
    - text is shown in a block that was begun and has not ended;
    - what is shown of a stream depends on that stream alone;
    - with `is_lossless`, a lossless transform shows what came, in its order: the text, and all
      other parts.

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

    findings = findings_on(TRANSFORM_LAWS)
    trial = _Trial(transform, findings)
    if not is_lossless:
        findings.leave_out("say is_lossless=True", _LOSSLESS)

    def check(drawn: tuple[ModelReply, Sequence[int]]) -> None:
        reply, sizes = drawn
        trial.try_laws(_stream(reply, ()), _stream(reply, sizes), is_lossless=is_lossless)

    said = st.sampled_from([*_TEXTS, *texts])
    mixed = st.lists(said, min_size=1, max_size=3).map("".join)
    parts: st.SearchStrategy[ReplyPart] = st.one_of(
        mixed.map(Text), mixed.map(Reasoning), st.just(_CALL)
    )
    replies = st.lists(parts, max_size=3).map(lambda content: _reply(*content))
    sizes = st.lists(st.integers(1, 3), min_size=1, max_size=4)
    hold(findings, check, st.tuples(replies, sizes), examples=examples)


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
    return [*parts, _END]


def _pieces(text: str, sizes: Sequence[int]) -> Iterable[str]:
    place = number = 0
    while place < len(text):
        size = sizes[number % len(sizes)]
        yield text[place : place + size]
        place, number = place + size, number + 1


@final
class _Showing:
    """A transform in one stream."""

    def __init__(self, transform: StreamTransform, name: str, findings: Findings) -> None:
        self._name: Final = name
        self._findings: Final = findings
        try:
            self._take: Final = transform(StreamControl(CancelHandle()))
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            break_law(name, _RAISES, at="the beginning", came=f"{type(error).__name__}: {error}")

    def of(self, part: RunPart, stream: Sequence[RunPart]) -> list[RunPart]:
        """What is shown of the next part."""
        at = told([part])
        try:
            shown: list[object] = [*self._take(part)]
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            came = f"{type(error).__name__}: {error}"
            break_law(self._name, _RAISES, stream=told(stream), at=at, came=came)
        self._findings.tried(_RAISES)
        for item in shown:
            if type(item).__module__.split(".")[0] != "stepfold":
                came = f"{item!r:.200}"
                break_law(self._name, _PARTS, stream=told(stream), at=at, came=came)
        self._findings.tried(_PARTS)
        return [cast("RunPart", item) for item in shown if not isinstance(item, Pause)]


@final
class _Trial:
    """A transform, and the streams that it is tried on."""

    def __init__(self, transform: StreamTransform, findings: Findings) -> None:
        self._transform: Final = transform
        self._findings: Final = findings
        self._name: Final = name_of(transform)

    def try_laws(
        self, whole: Sequence[RunPart], cut: Sequence[RunPart], *, is_lossless: bool
    ) -> None:
        """Try all of them on a stream as one piece, and cut."""
        as_whole, as_cut = self._shown(whole), self._shown(cut)
        with self._findings.trying(_BLOCKS):
            self._is_in_blocks(as_cut, cut)
        with self._findings.trying(_LAST):
            if not as_cut or as_cut[-1] != _END:
                self._broken(_LAST, stream=told(cut), came=told(as_cut))
        with self._findings.trying(_ALIKE):
            if _joined(as_whole) != _joined(as_cut):
                self._broken(
                    _ALIKE,
                    stream=told(whole),
                    whole=told(as_whole),
                    cut=f"as {told(cut)}",
                    came=told(as_cut),
                )
        with self._findings.trying(_ALONE):
            beside = self._beside(cut, whole)
            if beside != as_cut:
                came = f"{told(beside)}, while another stream was shown"
                self._broken(_ALONE, stream=told(cut), alone=told(as_cut), came=came)
        if is_lossless:
            with self._findings.trying(_LOSSLESS):
                if _joined(as_cut) != _joined(cut):
                    self._broken(_LOSSLESS, stream=told(cut), came=told(as_cut))

    def _showing(self) -> _Showing:
        return _Showing(self._transform, self._name, self._findings)

    def _shown(self, stream: Sequence[RunPart]) -> list[RunPart]:
        showing = self._showing()
        return [shown for part in stream for shown in showing.of(part, stream)]

    def _beside(self, stream: Sequence[RunPart], other: Sequence[RunPart]) -> list[RunPart]:
        """What is shown of a stream while another one is, part by part."""
        showing, besides = self._showing(), self._showing()
        shown: list[RunPart] = []
        for number, part in enumerate(stream):
            if number < len(other):
                besides.of(other[number], other)
            shown += showing.of(part, stream)
        return shown

    def _is_in_blocks(self, shown: Sequence[RunPart], stream: Sequence[RunPart]) -> None:
        open_blocks: set[str] = set()
        for part in shown:
            match part:
                case TextStart(id) | ReasoningStart(id):
                    open_blocks.add(id)
                case TextEnd(id) | ReasoningEnd(id):
                    open_blocks.discard(id)
                case TextDelta(id) | ReasoningDelta(id) if id not in open_blocks:
                    self._broken(_BLOCKS, stream=told(stream), came=told(shown))
                case _:
                    pass

    def _broken(self, law: StatedLaw, **shown: object) -> Never:
        break_law(self._name, law, **shown)


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
