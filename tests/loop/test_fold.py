"""One fold of a streamed reply: the same for every chunking, and strict about its order."""

import pytest

from stepfold.loop import ReplyFold, fold_parts, normal_reply, parts_of
from stepfold.values import (
    NO_USAGE,
    ApprovalRequest,
    Custom,
    DocumentSource,
    File,
    FileUrl,
    Finish,
    FinishReason,
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Ping,
    Raw,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFile,
    ReasoningStart,
    ReplyPart,
    ResponseInfo,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextOutput,
    TextStart,
    ToolCall,
    ToolError,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
    UrlSource,
    Usage,
)

STOP = FinishReason("stop")
END = Finish(STOP)
SIGNED = JsonText('{"acme":{"signature":"x"}}')
OTHER = JsonText('{"acme":{"signature":"y"}}')

FULL = ModelReply(
    (
        Reasoning("Let me think.", provider_options=SIGNED),
        Text("It is warm."),
        Text("", provider_options=SIGNED),
        ToolCall("c1", "look", '{"city":"Oslo"}', provider_options=SIGNED),
        ToolCall("p1", "search", "{}", provider_executed=True),
        ToolResult("p1", "search", TextOutput("found"), provider_executed=True),
        ToolError("p2", "search", "no", provider_executed=True),
        ApprovalRequest("a1", "p1"),
        File(FileUrl("https://example.org/a.png"), "image/png"),
        ReasoningFile(FileUrl("https://example.org/b.png"), "image/png"),
        UrlSource("s1", "https://example.org"),
        DocumentSource("s2", "application/pdf", "On weather"),
        Custom("acme.thing", provider_options=SIGNED),
    ),
    FinishReason("tool-calls", "tool_use"),
    Usage(10, 5),
    warnings=(ModelWarning("unsupported", "seed"),),
    response=ResponseInfo("r1", "one-2026", 5, (("x-id", "7"),)),
    provider_metadata=SIGNED,
)


def content(*parts: StreamPart) -> tuple[ReplyPart, ...]:
    """Fold the parts of one reply."""
    return fold_parts((*parts, END)).content


def violation(*parts: StreamPart) -> str:
    """Tell why these parts are no reply."""
    with pytest.raises(ModelError) as caught:
        fold_parts(parts)

    assert caught.value.reason.kind == "protocol"
    assert caught.value.reason.is_retryable
    return caught.value.reason.message


# --- law 7 ------------------------------------------------------------------------------------


def test_a_streamed_reply_is_the_reply_in_one_piece() -> None:
    """`fold(parts_of(reply)) == reply`, for every kind of part (law 7)."""
    assert fold_parts(parts_of(FULL)) == FULL


def test_a_reply_of_nothing_streams_as_nothing() -> None:
    """Start and finish are all there is; an unknown response is not told."""
    nothing = ModelReply((), STOP)

    assert (StreamStart(), Finish(STOP)) == parts_of(nothing)
    assert nothing == fold_parts(parts_of(nothing))


def test_text_is_the_same_however_it_is_cut() -> None:
    """Chunks are joined; an empty one is nothing."""
    assert (Text("It is warm."),) == content(
        TextStart("0"),
        TextDelta("0", "It "),
        TextDelta("0", ""),
        TextDelta("0", "is warm."),
        TextEnd("0"),
    )


def test_a_character_that_is_cut_in_two_is_whole_again() -> None:
    """Lone surrogates are replaced in the whole text, not in a chunk of it."""
    assert (Text("a\ufffd"),) == content(
        TextStart("0"), TextDelta("0", "a"), TextDelta("0", "\ud83d"), TextEnd("0")
    )


def test_blocks_stand_where_they_started() -> None:
    """Blocks may interleave; ids are those of one kind of block."""
    assert (Reasoning("Hm."), Text("a"), Text("b")) == content(
        ReasoningStart("0"),
        TextStart("0"),
        TextStart("1"),
        TextDelta("1", "b"),
        TextDelta("0", "a"),
        ReasoningDelta("0", "Hm."),
        TextEnd("1"),
        TextEnd("0"),
        ReasoningEnd("0"),
    )


def test_an_id_may_be_used_again_after_its_block_has_ended() -> None:
    """Some providers count anew."""
    assert (Text("a"), Text("b")) == content(
        TextStart("0"),
        TextDelta("0", "a"),
        TextEnd("0"),
        TextStart("0"),
        TextDelta("0", "b"),
        TextEnd("0"),
    )


def test_empty_blocks_are_dropped_unless_they_carry_something() -> None:
    """A signature may come on an empty block, and is wanted back."""
    assert (Reasoning("", provider_options=SIGNED),) == content(
        TextStart("0"),
        TextEnd("0"),
        ReasoningStart("0"),
        ReasoningEnd("0", provider_options=SIGNED),
    )


def test_the_last_options_of_a_block_are_the_ones_that_count() -> None:
    """A signature comes with the last part."""
    assert (Reasoning("Hm.", provider_options=OTHER),) == content(
        ReasoningStart("0", provider_options=SIGNED),
        ReasoningDelta("0", "Hm."),
        ReasoningEnd("0", provider_options=OTHER),
    )


def test_what_is_known_of_the_response_is_gathered() -> None:
    """A later figure replaces an earlier one; what is not said stays."""
    reply = fold_parts(
        [
            StreamStart((ModelWarning("other", "a"),)),
            ResponseMetadata(id="r0", model_id="one"),
            ResponseMetadata(id="r1", timestamp=5, headers=(("x-id", "7"),)),
            StreamStart((ModelWarning("other", "b"),)),
            END,
        ]
    )

    assert ResponseInfo("r1", "one", 5, (("x-id", "7"),)) == reply.response
    assert [warning.subject for warning in reply.warnings] == ["a", "b"]


def test_what_says_nothing_leaves_nothing() -> None:
    """Pings and raw chunks are no content."""
    assert content(Ping(), Raw(JsonText("{}"))) == ()


# --- calls ------------------------------------------------------------------------------------


def test_a_call_stands_where_its_arguments_started() -> None:
    """The arguments are those of the whole call; the deltas are for those who watch."""
    assert (ToolCall("c1", "look", '{"a":1}'), Text("So.")) == content(
        ToolInputStart("c1", "look"),
        TextStart("0"),
        TextDelta("0", "So."),
        TextEnd("0"),
        ToolInputDelta("c1", '{"a"'),
        ToolInputEnd("c1"),
        ToolCall("c1", "look", '{"a":1}'),
    )


def test_a_call_whose_arguments_never_ended_is_no_call() -> None:
    """Nothing runs on what was cut (law 13)."""
    assert content(ToolInputStart("c1", "look"), ToolInputDelta("c1", '{"a":1}')) == ()


def test_hostile_arguments_always_have_a_utf_8_form() -> None:
    """A lone surrogate would break every encoder after it."""
    assert (ToolCall("c1", "look", '"\ufffd"'),) == content(ToolCall("c1", "look", '"\ud800"'))


def test_ids_that_are_blank_or_taken_are_renamed_as_they_come() -> None:
    """A stream shows the ids that the history will hold, in every part of a call."""
    fold = ReplyFold({"c0"}, "r/0/{}".format)
    shown = [
        fold.add(part)
        for part in (
            ToolInputStart("c0", "look"),
            ToolInputDelta("c0", "{}"),
            ToolInputEnd("c0"),
            ToolCall("c0", "look", "{}"),
            ToolCall("", "look", "{}"),
            ToolCall("", "search", "{}", provider_executed=True),
            ToolResult("", "search", TextOutput("found"), provider_executed=True),
            ToolError("", "search", "no"),
            ApprovalRequest("a1", ""),
            ToolResult("elsewhere", "search", TextOutput("late"), provider_executed=True),
        )
    ]

    assert [getattr(part, "id", None) or getattr(part, "tool_call_id", None) for part in shown] == [
        "r/0/0",
        "r/0/0",
        "r/0/0",
        "r/0/0",
        "r/0/1",
        "r/0/2",
        "r/0/2",
        "r/0/2",
        "r/0/2",
        "elsewhere",
    ]


def test_renaming_is_idempotent() -> None:
    """What has been renamed once is unique, and is not renamed again."""
    first = fold_parts([ToolCall("c1", "look", "{}"), ToolCall("c1", "look", "{}"), END])

    assert [part.tool_call_id for part in first.content if isinstance(part, ToolCall)] == [
        "c1",
        "call-1",
    ]
    assert first == fold_parts(parts_of(first))


def test_a_derived_id_that_is_taken_is_derived_further() -> None:
    """Whatever a model calls its calls, ids are unique."""
    fold = ReplyFold({"call-0", "call-0'"})
    fold.add(ToolCall("", "look", "{}"))

    assert [part.tool_call_id for part in fold.partial().content if isinstance(part, ToolCall)] == [
        "call-0''"
    ]


# --- violations -------------------------------------------------------------------------------


def test_a_stream_without_a_finish_may_be_cut() -> None:
    """The reply is incomplete: a retry, not an answer."""
    assert violation(StreamStart()) == "the stream ended without a finish: the reply may be cut"


def test_nothing_comes_after_the_finish() -> None:
    """Two finishes are two replies."""
    assert violation(END, END) == "a Finish part came after the finish"


@pytest.mark.parametrize(
    "part",
    [
        TextDelta("0", "a"),
        TextEnd("0"),
        ReasoningDelta("0", "a"),
        ReasoningEnd("0"),
    ],
)
def test_a_block_is_started_before_it_goes_on(part: StreamPart) -> None:
    """A part of a block that is not open was lost, or is not ours."""
    assert violation(part) == "a part of block '0' came, which is not open"
    assert (
        violation(TextStart("0"), TextEnd("0"), ReasoningStart("0"), ReasoningEnd("0"), part)
        == "a part of block '0' came, which is not open"
    )


@pytest.mark.parametrize("part", [TextStart("0"), ReasoningStart("0")])
def test_a_block_is_started_once(part: StreamPart) -> None:
    """Two open blocks under one id could not be told apart."""
    assert violation(part, part) == "block '0' was started twice"


@pytest.mark.parametrize("part", [ToolInputDelta("c1", "{"), ToolInputEnd("c1")])
def test_arguments_start_before_they_go_on(part: StreamPart) -> None:
    """And they do not go on after the call."""
    message = "a part of the arguments of call 'c1' came, which is not open"

    assert message == violation(part)
    assert message == violation(ToolCall("c1", "look", "{}"), part)


def test_an_error_in_the_stream_is_the_providers_reason() -> None:
    """It is raised as it was reported."""
    reason = ModelErrorReason("overloaded", "later")
    with pytest.raises(ModelError) as caught:
        fold_parts([StreamStart(), StreamError(reason)])

    assert reason == caught.value.reason


# --- partial replies --------------------------------------------------------------------------


def test_what_has_come_so_far_is_an_interrupted_reply() -> None:
    """Open text counts; a call that was not complete does not."""
    fold = ReplyFold()
    for part in (
        StreamStart((ModelWarning("other", "a"),)),
        ResponseMetadata(id="r1"),
        TextStart("0"),
        TextDelta("0", "It is"),
        ToolCall("c1", "look", "{}"),
        ToolInputStart("c2", "look"),
    ):
        fold.add(part)

    assert (
        ModelReply(
            (Text("It is"), ToolCall("c1", "look", "{}")),
            FinishReason("interrupted"),
            NO_USAGE,
            warnings=(ModelWarning("other", "a"),),
            response=ResponseInfo("r1"),
        )
        == fold.partial()
    )


def test_a_reply_that_is_cut_after_its_finish_has_its_usage() -> None:
    """What was reported is counted."""
    fold = ReplyFold()
    fold.add(Finish(STOP, Usage(1, 2)))

    assert Usage(1, 2) == fold.partial().usage


# --- replies in one piece ---------------------------------------------------------------------


def test_a_clean_reply_is_the_same_object() -> None:
    """Nothing is copied that needs no change."""
    assert FULL is normal_reply(FULL)


def test_a_reply_in_one_piece_is_cleaned_as_a_stream_would_be() -> None:
    """No empty text, no lone surrogates."""
    reply = ModelReply(
        (
            Text(""),
            Reasoning(""),
            Text("", provider_options=SIGNED),
            Text("a\ud800"),
            Reasoning("b\udfff", provider_options=SIGNED),
            ToolCall("c1", "look", '"\ud800"', dynamic=True),
        ),
        STOP,
    )
    clean = (
        Text("", provider_options=SIGNED),
        Text("a\ufffd"),
        Reasoning("b\ufffd", provider_options=SIGNED),
        ToolCall("c1", "look", '"\ufffd"', dynamic=True),
    )

    assert ModelReply(clean, STOP) == normal_reply(reply)
    assert fold_parts(parts_of(reply)) == normal_reply(reply)


def test_cleaning_leaves_the_ids_of_calls_to_the_loop() -> None:
    """Otherwise a call would be named differently only because empty text stood beside it."""
    twice = (ToolCall("c1", "look", "{}"), ToolCall("c1", "look", "{}"))

    assert twice == normal_reply(ModelReply((Text(""), *twice), STOP)).content


def test_blocks_whose_ids_were_shown_before_are_shown_under_others() -> None:
    shown = {"0", "1/2"}
    fold = ReplyFold(blocks=shown, prefix="1/")
    parts: list[StreamPart] = [
        *(ReasoningStart("0"), ReasoningDelta("0", "a"), ReasoningEnd("0")),
        *(TextStart("2"), TextDelta("2", "b"), TextEnd("2")),
        *(TextStart("2"), TextDelta("2", "c"), TextEnd("2"), END),
    ]

    seen = [fold.add(part) for part in parts]

    assert [getattr(part, "id", None) for part in seen] == [
        *["1/0"] * 3,
        *["2"] * 3,
        *["1/2'"] * 3,
        None,
    ]
    assert shown == {"0", "1/2", "1/0", "2", "1/2'"}
    assert fold.reply().content == (Reasoning("a"), Text("b"), Text("c"))
