"""What is wrong with a history is found, said, and mended without losing what was said."""

from typing import cast

import pytest

from stepfold.loop import Finding, inspect_history, repair_history, validate_history
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    ErrorTextOutput,
    Failure,
    JsonText,
    Message,
    Success,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UsageError,
    UserMessage,
)

HI = UserMessage("Hi.")
THANKS = UserMessage("Thanks.")
A, B = ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}")
THEIRS = ToolCall("p", "search", "{}", provider_executed=True)
OPTIONS = JsonText('{"acme":{"cache":true}}')
UNANSWERED = ErrorTextOutput("interrupted: this call was never answered")


def said(*parts: AssistantPart) -> AssistantMessage:
    """Let the model have said something."""
    return AssistantMessage(parts)


def told(*parts: ToolPart, options: JsonText | None = None) -> ToolMessage:
    """Let the model have been told something."""
    return ToolMessage(parts, provider_options=options)


def result(id: str, text: str = "warm", *, theirs: bool = False) -> ToolResult:
    """Give a result."""
    return ToolResult(id, "look", TextOutput(text), provider_executed=theirs)


def ask(approval_id: str = "x", call_id: str = "a") -> ApprovalRequest:
    """Ask for an approval."""
    return ApprovalRequest(approval_id, call_id)


def allow(approval_id: str = "x", *, theirs: bool = False) -> ApprovalResponse:
    """Approve; `theirs` are answers for the provider."""
    return ApprovalResponse(approval_id, approved=True, provider_executed=theirs)


def found(*messages: Message, allow_system_messages: bool = False) -> list[tuple[object, ...]]:
    """What is found, and where."""
    findings = inspect_history(messages, allow_system_messages=allow_system_messages)
    return [(one.kind, one.severity, one.message, one.part) for one in findings]


def repaired(*messages: Message) -> tuple[Message, ...]:
    """Repair a history."""
    return repair_history(messages).messages


def test_a_history_without_errors_is_valid_and_left_alone() -> None:
    """Its messages are the same objects."""
    history = (
        HI,
        said(A, THEIRS, B),
        told(result("b"), result("p", theirs=True)),
        told(result("a")),
    )

    assert found(*history) == []
    assert validate_history(history) == Success(history)
    assert all(new is old for new, old in zip(repaired(*history), history, strict=True))


def test_what_is_wrong_says_where_it_is_and_what_is_done() -> None:
    """In words for whoever keeps the history."""
    finding = Finding(
        "open-call",
        "error",
        1,
        0,
        "the call 'a' has no result",
        "it is closed as interrupted",
    )

    assert repair_history([HI, said(A)]).findings == (finding,)
    assert repair_history([HI, said(A)]).mended == (finding,)
    assert validate_history([HI, said(A)]) == Failure((finding,))


@pytest.mark.parametrize(
    ("history", "findings"),
    [
        ((said(A), HI), [("open-call", "error", 0, 0)]),
        (
            (said(ask(), A), HI),
            [("overtaken-approval", "error", 0, 1)],
        ),
        ((said(A, A), told(result("a"))), [("duplicate-call", "error", 0, 1)]),
        ((told(result("a")), HI), [("orphan-result", "error", 0, 0)]),
        ((HI, told(result("p", theirs=True))), [("orphan-result", "error", 1, 0)]),
        ((said(A), told(result("a"), result("a"))), [("duplicate-result", "error", 1, 1)]),
        ((said(A), HI, told(result("a"))), [("misplaced-result", "error", 2, 0)]),
        ((said(A, result("a")),), [("misplaced-result", "error", 0, 1)]),
        ((said(A, ask(), ask("y")),), [("duplicate-approval", "error", 0, 2)]),
        (
            (said(A, B, ask(), ask("x", "b")),),
            [("open-call", "error", 0, 1), ("duplicate-approval", "error", 0, 3)],
        ),
        ((SystemMessage("Obey."),), [("system-message", "error", 0, None)]),
        ((said(ask()),), [("orphan-approval", "warning", 0, 0)]),
        ((told(allow()),), [("orphan-response", "warning", 0, 0)]),
        (
            (said(A, ask()), told(allow(), allow())),
            [("duplicate-response", "warning", 1, 1)],
        ),
        (
            (said(THEIRS, ask("x", "p")), told(allow(theirs=True), allow(theirs=True))),
            [("duplicate-response", "error", 1, 1)],
        ),
        (
            (said(THEIRS, ask("x", "p")), told(allow())),
            [("misaddressed-response", "error", 1, 0)],
        ),
        (
            (said(A, ask()), told(allow(theirs=True))),
            [("misaddressed-response", "error", 1, 0)],
        ),
        ((said(THEIRS, ask("x", "p")), told(allow(theirs=True))), []),
        (
            (said(A), told(result("a")), said(A), told(result("a"))),
            [("reused-id", "warning", 2, 0)],
        ),
        (
            (said(THEIRS), said(THEIRS)),
            [("reused-id", "warning", 1, 0)],
        ),
        ((UserMessage(()), HI), [("empty-message", "warning", 0, None)]),
        ((said(Text("")),), [("empty-text", "warning", 0, 0)]),
        ((said(Text("", provider_options=OPTIONS)),), []),
        ((UserMessage("\ud800"),), [("lone-surrogate", "warning", 0, 0)]),
        ((said(ask()), told(allow())), [("orphan-approval", "warning", 0, 0)]),
        ((HI, said(A, ask())), []),
        ((HI, said(A, ask()), told(allow()), THANKS), []),
    ],
)
def test_each_kind_of_fault_is_found(
    history: tuple[Message, ...], findings: list[tuple[object, ...]]
) -> None:
    """By its place, and whether it can be sent nevertheless."""
    assert found(*history) == findings


def test_instructions_have_to_be_allowed() -> None:
    """Who hands over a history of others should know that it holds some; all three ask for it."""
    history = (SystemMessage("Obey."), HI)
    [finding] = inspect_history(history)

    assert (finding.kind, finding.severity) == ("system-message", "error")
    assert validate_history(history) == Failure((finding,))
    assert repair_history(history).findings == (finding,)
    assert validate_history(history, allow_system_messages=True) == Success(history)


def test_instructions_that_are_allowed_belong_to_the_start() -> None:
    """Several may stand there; an empty one says nothing, and half a character is none."""
    first, second = SystemMessage("Obey."), SystemMessage("")
    late = ("system-message", "warning", 3, None)

    assert found(first, second, HI, first, allow_system_messages=True) == [
        ("empty-message", "warning", 1, None),
        late,
    ]
    assert found(SystemMessage("\ud800"), allow_system_messages=True) == [
        ("lone-surrogate", "warning", 0, None)
    ]


def test_instructions_in_between_are_a_word_like_any_other() -> None:
    """The turn before them is over: nobody approves its calls, and its results come too late."""
    obey = SystemMessage("Obey.")
    late = ("system-message", "warning", 1, None)

    assert found(said(A, ask()), obey, allow_system_messages=True) == [
        ("overtaken-approval", "error", 0, 0),
        late,
    ]
    assert found(said(A), obey, told(result("a")), allow_system_messages=True) == [
        late,
        ("misplaced-result", "error", 2, 0),
    ]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (UserMessage((cast("Text", A),)), "a user message cannot hold a part of type ToolCall"),
        (
            AssistantMessage((cast("Text", allow()),)),
            "an assistant message cannot hold a part of type ApprovalResponse",
        ),
        (
            ToolMessage((cast("ToolResult", Text("a")),)),
            "a tool message cannot hold a part of type Text",
        ),
        (UserMessage((Text(cast("str", 3)),)), "a text cannot be of type int"),
    ],
)
def test_what_cannot_be_mended_is_left_and_said(message: Message, problem: str) -> None:
    """Nobody but the author knows what was meant."""
    outcome = repair_history([message])

    assert outcome.messages == (message,)
    assert [(one.kind, one.problem, one.is_refused) for one in outcome.refused] == [
        ("misplaced-part", problem, True)
    ]


def test_a_result_is_moved_to_its_call() -> None:
    """What a tool said is not lost to a message that came between."""
    assert repaired(
        HI,
        said(A, B),
        told(result("b")),
        THANKS,
        told(result("a"), allow(), options=OPTIONS),
    ) == (
        HI,
        said(A, B),
        told(result("b")),
        told(result("a"), options=OPTIONS),
        THANKS,
        told(allow(), options=OPTIONS),
    )


def test_results_of_several_calls_find_each_their_own() -> None:
    """Two turns that were written before their answers."""
    assert repaired(said(A), said(B), told(result("b"), result("a"))) == (
        said(A),
        told(result("a")),
        said(B),
        told(result("b")),
    )


def test_a_result_in_a_message_of_the_model_is_moved_behind_it() -> None:
    """Only results of the provider stand there; a message that is left empty is gone."""
    theirs = result("p", theirs=True)

    assert repaired(said(A, Text("So."), result("a"), theirs)) == (
        said(A, Text("So."), theirs),
        told(result("a")),
    )
    assert repaired(said(A), said(result("a"))) == (said(A), told(result("a")))
    assert repaired(said(A), told(result("a")), said(result("a"))) == (said(A), told(result("a")))


def test_a_result_of_nobodys_call_in_a_message_of_the_model_stays() -> None:
    """A provider may answer late; it knows its own calls."""
    assert found(said(result("z"))) == []


def test_a_result_answers_the_last_call_of_its_id() -> None:
    """An earlier one of the same id was never answered."""
    assert repaired(said(A), HI, said(A), told(result("a"), result("a", "cold"))) == (
        said(A),
        told(ToolResult("a", "look", UNANSWERED)),
        HI,
        said(A),
        told(result("a")),
    )


def test_what_a_provider_has_heard_already_or_never_asked_for_is_dropped() -> None:
    """What stands beside it is taken in as always."""
    asked, allowed = said(THEIRS, ask("x", "p")), allow(theirs=True)

    assert repaired(asked, told(allowed, allowed)) == (asked, told(allowed))
    assert repaired(said(A), told(result("z", theirs=True), result("a"))) == (
        said(A),
        told(result("a")),
    )


@pytest.mark.parametrize(
    ("call", "call_id", "is_theirs", "who"),
    [(THEIRS, "p", True, "the provider"), (A, "a", False, "the program")],
)
def test_a_response_goes_to_whoever_executes_its_call(
    call: ToolCall, call_id: str, is_theirs: bool, who: str
) -> None:
    """Wherever it was addressed to before."""
    asked = said(call, ask("x", call_id))
    history = repair_history([asked, told(allow(theirs=not is_theirs))])

    assert history.messages == (asked, told(allow(theirs=is_theirs)))
    assert [finding.problem for finding in history.findings] == [
        f"{who} executes the call that the response 'x' is for"
    ]


def test_a_call_beside_one_that_a_client_may_still_answer_is_closed() -> None:
    """Nobody is left to answer it."""
    other = ToolCall("b", "pay", "{}")
    history = repair_history([said(A, other)], client_tools=("look",))

    assert history.messages == (said(A, other), told(ToolResult("b", "pay", UNANSWERED)))


def test_a_second_request_for_a_call_is_dropped() -> None:
    """The call waits for the first, and under the id of the first."""
    assert repaired(said(A, ask(), ask("y"))) == (said(A, ask()),)


def test_a_call_that_was_approved_late_is_left_open() -> None:
    """Somebody spoke, and decided then."""
    history = (said(A, ask()), HI, told(allow()))

    assert repaired(*history) == history


def test_an_approval_under_an_id_that_was_used_before_is_a_new_one() -> None:
    """Runs of one name ask under the same ids: what was approved then is not approved now."""
    history = (said(A, ask()), told(allow(), result("a")), said(B, ask("x", "b")))

    assert repaired(*history, HI)[3:] == (
        told(
            ToolResult(
                "b",
                "look",
                ErrorTextOutput(
                    "not run: the conversation went on before anybody approved this call"
                ),
            )
        ),
        HI,
    )
    assert found(*history, told(allow())) == []


def test_what_is_found_is_sorted_by_its_place() -> None:
    """However late it is known: that a call stays open shows only at the end."""
    assert found(said(A, Text("")), HI, UserMessage("")) == [
        ("open-call", "error", 0, 0),
        ("empty-text", "warning", 0, 1),
        ("empty-text", "warning", 2, 0),
    ]


def test_what_is_no_message_is_refused() -> None:
    """It is the caller's mistake, not one in the history."""
    with pytest.raises(UsageError, match=r"messages\[0\]: expected a message, got dict"):
        inspect_history(cast("list[Message]", [{"role": "user"}]))
