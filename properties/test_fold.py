"""Laws 7 and 18 of the fold: where a stream is cut is of no account, nor who names a call."""

from collections.abc import Sequence

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import ReplyFold, fold_parts, parts_of
from stepfold.loop._fold import normal_reply
from stepfold.testing import ScriptedModel, laws
from stepfold.testing.strategies import model_replies
from stepfold.values import (
    ModelReply,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)

replies = model_replies(tools=("look", "wipe"), hostile=30, cut=20)


def pieces(text: str, sizes: Sequence[int]) -> list[str]:
    cut: list[str] = []
    for size in sizes:
        cut.append(text[:size])
        text = text[size:]
    return [*cut, text]


def rechunked(parts: Sequence[StreamPart], sizes: Sequence[int]) -> list[StreamPart]:
    """Cut all deltas; empty pieces, and the arguments of calls, among them."""
    out: list[StreamPart] = []
    for part in parts:
        match part:
            case TextDelta() | ReasoningDelta():
                out += [evolve(part, delta=piece) for piece in pieces(part.delta, sizes)]
            case ToolCall(call_id, name, text) if not part.provider_executed and call_id:
                out.append(ToolInputStart(call_id, name))
                out += [ToolInputDelta(call_id, piece) for piece in pieces(text[:40], sizes)]
                out += [ToolInputEnd(call_id), part]
            case _:
                out.append(part)
    return out


sizes = st.lists(st.integers(0, 5), max_size=6)


@given(replies, sizes)
def test_where_a_stream_is_cut_is_of_no_account(reply: ModelReply, cuts: list[int]) -> None:
    parts = parts_of(reply)

    laws.fold_ignores_chunks(parts, rechunked(parts, cuts))


@given(replies, sizes, st.sets(st.sampled_from(["c1", "c2", "run/0/0", "call-0"])))
def test_naming_calls_twice_changes_nothing(
    reply: ModelReply, cuts: list[int], seen: set[str]
) -> None:
    laws.renaming_is_idempotent(rechunked(parts_of(reply), cuts), seen)


@given(replies, st.sets(st.sampled_from(["c1", "c2", "c3", "run/0/0"])))
def test_calls_are_named_uniquely(reply: ModelReply, seen: set[str]) -> None:
    fold = ReplyFold(seen, "run/0/{}".format)
    for part in parts_of(reply):
        fold.add(part)
    ids = [part.tool_call_id for part in fold.reply().content if isinstance(part, ToolCall)]

    assert len(set(ids)) == len(ids)
    assert not set(ids) & seen
    assert "" not in ids


@given(replies)
def test_a_reply_in_one_piece_is_the_reply_in_parts(reply: ModelReply) -> None:
    assert fold_parts(parts_of(normal_reply(reply))) == fold_parts(parts_of(reply))


@given(replies, st.integers(1, 3) | st.none())
async def test_a_scripted_model_gives_one_reply_in_both_ways(
    reply: ModelReply, size: int | None
) -> None:
    from stepfold.values import ModelRequest

    model = ScriptedModel([reply], chunk_size=size)

    await laws.generate_is_the_folded_stream(model, ModelRequest(messages=(), key="run/0/0"))
