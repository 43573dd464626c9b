"""The order that providers want a history in, made without walking more than needed."""

from attrs import evolve

from stepfold.loop import convert_to_model_prompt
from stepfold.loop._prompt import unpaired
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    JsonText,
    Message,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UserMessage,
)

HI = UserMessage("Hi.")
A, B, C = (ToolCall(id, "look", "{}") for id in "abc")
REQUEST = ApprovalRequest("x", "a")
RESPONSE = ApprovalResponse("x", approved=True)
OPTIONS = JsonText('{"acme":{}}')
OTHERS = JsonText('{"acme":{"cache":true}}')


def said(*parts: AssistantPart) -> AssistantMessage:
    """Let the model have said something."""
    return AssistantMessage(parts)


def told(*parts: ToolPart, options: JsonText | None = None) -> ToolMessage:
    """Let the model have been told something."""
    return ToolMessage(parts, provider_options=options)


def result(id: str) -> ToolResult:
    """Give a result."""
    return ToolResult(id, "look", TextOutput(id))


C3 = result("c")


def converted(*messages: Message) -> tuple[Message, ...]:
    """Convert a history."""
    return convert_to_model_prompt(messages)


def test_messages_that_need_no_change_are_the_same_objects() -> None:
    """Conversions are cached by message, so what is the same has to stay the same."""
    history = (SystemMessage("Obey."), HI, said(A, B), told(result("a"), result("b")), HI)

    assert all(new is old for new, old in zip(converted(*history), history, strict=True))


def test_results_stand_in_call_order_in_one_message() -> None:
    """A history keeps them in the order in which they were settled (law 5)."""
    assert (HI, said(A, B, C), told(result("a"), result("b"), result("c"))) == converted(
        HI, said(A, B, C), told(result("b")), told(result("c"), result("a"))
    )


def test_results_of_nobodys_call_come_last() -> None:
    """They are not ours to drop here."""
    assert (said(A), told(result("a"), result("z"))) == converted(
        said(A), told(result("z"), result("a"))
    )


def test_results_of_nobodys_call_come_last_wherever_the_calls_stand() -> None:
    """A call's place among the calls counts, not that among all that was said."""
    stray = result("x")
    prompt = converted(HI, said(Text("Hm."), A, B), told(stray, result("b"), result("a")))

    assert prompt[-1] == told(result("a"), result("b"), stray)


def test_each_turn_has_its_own_order() -> None:
    """Ids of one turn do not sort the results of another."""
    assert (
        said(A, B),
        told(result("a"), result("b")),
        said(B, A),
        told(result("b"), result("a")),
    ) == converted(
        said(A, B), told(result("b"), result("a")), said(B, A), told(result("a"), result("b"))
    )


def test_merged_messages_take_the_options_of_the_last() -> None:
    """Those of the others go to the last part that is shown, under what it says itself."""
    own = evolve(result("a"), provider_options=JsonText('{"acme":{"keep":1},"other":[1]}'))
    both = JsonText('{"acme":{"cache":true,"keep":1},"other":[1]}')

    assert (said(A, B), told(result("a"), result("b"), options=OTHERS)) == converted(
        said(A, B), told(result("a")), told(result("b"), options=OTHERS)
    )
    assert (
        said(A, B, C),
        told(evolve(own, provider_options=both), evolve(result("b"), provider_options=OPTIONS), C3),
    ) == converted(
        said(A, B, C),
        told(own, RESPONSE, options=OTHERS),
        told(RESPONSE, options=OTHERS),
        told(result("b"), options=OPTIONS),
        told(C3),
    )


def test_a_text_without_a_character_is_not_sent() -> None:
    """Providers refuse it; a model's own may carry what the provider wants back."""
    signed = Text("", provider_options=OPTIONS)
    asked = UserMessage((Text(""), Text("So?")), provider_options=OPTIONS)

    assert converted(
        UserMessage(""),
        UserMessage(()),
        asked,
        said(Text("")),
        said(Text(""), Text("So."), signed),
    ) == (
        UserMessage((Text("So?"),), provider_options=OPTIONS),
        said(Text("So."), signed),
    )


def test_questions_and_decisions_are_not_the_models_business() -> None:
    """Requests and responses are dropped, and messages that are empty without them."""
    assert (said(A), told(result("a")), said(Text("So."))) == converted(
        said(A, REQUEST),
        told(RESPONSE, result("a")),
        said(REQUEST),
        told(RESPONSE),
        said(),
        said(Text("So.")),
    )


def test_a_decision_that_the_provider_asked_for_is_sent_back() -> None:
    """It runs the tool, so it has to know."""
    theirs = ApprovalResponse("x", approved=True, provider_executed=True)

    assert (said(A), told(result("a"), theirs)) == converted(said(A), told(theirs, result("a")))


def test_the_options_of_a_message_are_kept_when_a_request_is_dropped() -> None:
    """They are about the message, not about the request."""
    message = AssistantMessage((A, REQUEST), provider_options=OPTIONS)

    assert AssistantMessage((A,), provider_options=OPTIONS) == converted(message)[0]


def test_a_paired_prompt_has_one_answer_for_each_call() -> None:
    """Several messages may answer; calls of the provider need no answer of ours."""
    theirs = ToolCall("p", "search", "{}", provider_executed=True)
    late = ToolResult("p", "search", TextOutput("found"), provider_executed=True)

    assert (
        unpaired((HI, said(A, B, theirs), told(result("b")), told(result("a"), late), HI)) is None
    )
    assert unpaired((told(RESPONSE), HI)) is None
    assert unpaired((said(A), told(RESPONSE, late, result("a")))) is None


def test_what_is_not_paired_is_named() -> None:
    """A call without a result, a result without a call, and a second result (law 5)."""
    assert unpaired((said(A, B), told(result("a")), HI)) == "the call 'b' has no result after it"
    assert unpaired((said(Text("So."), A),)) == "the call 'a' has no result after it"
    assert unpaired((said(A), HI, told(result("a")))) == "the call 'a' has no result after it"
    assert unpaired((said(A, A),)) == "two calls of one message have the id 'a'"
    assert (
        unpaired((said(A), told(result("a"), result("a"))))
        == "the result of 'a' answers no call before it"
    )
