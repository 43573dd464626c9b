"""A step result answers questions about its content; performance turns times into rates."""

import pytest

from stepfold.values import (
    DocumentSource,
    File,
    FileUrl,
    FinishReason,
    Performance,
    Reasoning,
    StepResult,
    Text,
    TextOutput,
    ToolCall,
    ToolError,
    ToolResult,
    UrlSource,
    Usage,
)

SECOND = 1_000_000_000

CALL = ToolCall("c1", "look", "{}")
RESULT = ToolResult("c1", "look", TextOutput("warm"))
ERROR = ToolError("c2", "look", "no")
FILE = File(FileUrl("https://example.org/a.png"), "image/png")
PAGE = UrlSource("s1", "https://example.org")
PAPER = DocumentSource("s2", "application/pdf", "On weather")

STEP = StepResult(
    0,
    "acme/one",
    (
        Reasoning("Let me "),
        Text("It is "),
        PAGE,
        Reasoning("think."),
        CALL,
        FILE,
        Text("warm."),
        PAPER,
        RESULT,
        ERROR,
    ),
    FinishReason("tool-calls"),
    Usage(1, 2),
    Performance(response_time=0, step_time=0),
)


def test_a_step_gives_its_content_by_kind_in_order() -> None:
    """What a user asks of a step is a view of its content."""
    assert STEP.text == "It is warm."
    assert STEP.reasoning_text == "Let me think."
    assert STEP.tool_calls == (CALL,)
    assert STEP.tool_results == (RESULT,)
    assert STEP.tool_errors == (ERROR,)
    assert STEP.files == (FILE,)
    assert STEP.sources == (PAGE, PAPER)


def test_rates_are_tokens_a_second() -> None:
    """Effective rates count the whole response, the others only the time that they are about."""
    streamed = Performance(
        response_time=4 * SECOND,
        step_time=9 * SECOND,
        input_tokens=100,
        output_tokens=60,
        time_to_first_output=1 * SECOND,
        streaming_time=3 * SECOND,
    )

    assert streamed.effective_output_tokens_per_second == 15.0
    assert streamed.effective_total_tokens_per_second == 40.0
    assert streamed.output_tokens_per_second == 20.0
    assert streamed.input_tokens_per_second == 100.0


def test_a_reply_in_one_piece_has_no_streaming_rates() -> None:
    """What was not measured is `None`, not nothing."""
    whole = Performance(
        response_time=2 * SECOND, step_time=2 * SECOND, input_tokens=0, output_tokens=10
    )

    assert whole.effective_total_tokens_per_second == 5.0
    assert whole.output_tokens_per_second is None
    assert whole.input_tokens_per_second is None


@pytest.mark.parametrize(
    ("tokens", "response_time", "rate"),
    [
        (None, SECOND, None),
        (5, 0, None),
        (0, 0, None),
        (0, SECOND, 0.0),
        (5, SECOND, 5.0),
        (5, 1, 5e9),
    ],
)
def test_a_rate_is_finite_or_absent(
    tokens: int | None, response_time: int, rate: float | None
) -> None:
    """Nothing is 0 but what was counted and came to nothing."""
    measured = Performance(
        response_time=response_time,
        step_time=response_time,
        input_tokens=0,
        output_tokens=tokens,
        time_to_first_output=0,
        streaming_time=response_time,
    )

    assert measured.effective_output_tokens_per_second == rate
    assert measured.effective_total_tokens_per_second == rate
    assert measured.output_tokens_per_second == rate
    assert measured.input_tokens_per_second is None


def test_a_total_of_which_a_part_is_unknown_is_unknown() -> None:
    measured = Performance(response_time=SECOND, step_time=SECOND, output_tokens=5)

    assert measured.effective_total_tokens_per_second is None
