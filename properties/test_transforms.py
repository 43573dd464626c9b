"""Law 18 for transforms: `smooth_stream` loses nothing, wherever a stream was cut."""

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from stepfold.agent import Chunking, Pause, StreamControl, smooth_stream
from stepfold.loop.notes import StepStarted
from stepfold.shell import CancelHandle, RunPart
from stepfold.values import JsonText, Ping, ReasoningDelta, TextDelta, TextEnd

texts = st.text(alphabet="ab \n.é", max_size=8)
options = st.sampled_from([None, None, None, JsonText('{"acme":{}}')])
ids = st.sampled_from(["1", "2"])
parts: st.SearchStrategy[RunPart] = st.one_of(
    st.builds(TextDelta, ids, texts, provider_options=options),
    st.builds(TextDelta, ids, texts),
    st.builds(ReasoningDelta, ids, texts, provider_options=options),
    st.sampled_from([Ping(), TextEnd("1"), StepStarted(0, "a/b")]),
)
streams = st.lists(parts, max_size=10).map(lambda drawn: [*drawn, StepStarted(9, "end")])
chunkings: st.SearchStrategy[Chunking] = st.sampled_from(
    ["word", "line", re.compile("[.]"), re.compile("a|$"), lambda text: text[:1] or None]
)


def joined(parts: Sequence[RunPart | Pause]) -> list[RunPart]:
    """A stream in which the deltas of one block that follow each other are one; without pings."""
    out: list[RunPart] = []
    for part in parts:
        if isinstance(part, Pause | Ping):
            continue
        last = out[-1] if out else None
        if (
            isinstance(part, TextDelta | ReasoningDelta)
            and isinstance(last, TextDelta | ReasoningDelta)
            and (type(part), part.id) == (type(last), last.id)
            and part.provider_options is last.provider_options is None
        ):
            out[-1] = type(part)(part.id, last.delta + part.delta)
        elif not isinstance(part, TextDelta | ReasoningDelta) or part != type(part)(part.id, ""):
            out.append(part)
    return out


def smoothed(parts: Sequence[RunPart], chunking: Chunking) -> list[RunPart | Pause]:
    take = smooth_stream(chunking=chunking)(StreamControl(CancelHandle()))
    return [shown for part in parts for shown in take(part)]


@given(streams, chunkings)
def test_what_is_smoothed_says_the_same_in_the_same_order(
    stream: list[RunPart], chunking: Chunking
) -> None:
    assert joined(smoothed(stream, chunking)) == joined(stream)


@given(st.lists(texts, max_size=6), st.integers(1, 4), st.sampled_from(["word", "line"]))
def test_where_the_model_cut_its_text_is_of_no_account(
    deltas: list[str], size: int, chunking: Chunking
) -> None:
    """Words and lines are shown alike; only the white space between them may be cut."""
    text = "".join(deltas)
    recut = [text[place : place + size] for place in range(0, len(text), size)]

    def visible(pieces: list[str]) -> list[str]:
        stream: list[RunPart] = [*(TextDelta("1", piece) for piece in pieces), TextEnd("1")]
        shown = smoothed(stream, chunking)
        split = "\n" if chunking == "line" else None
        told = (part.delta for part in shown if isinstance(part, TextDelta))
        return [word for delta in told for word in delta.split(split) if word]

    assert visible(recut) == visible(deltas)
