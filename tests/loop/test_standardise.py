"""What is no prompt is refused in words that say what to write instead."""

from typing import cast

import pytest

from stepfold.loop import inspect_history, standardise_prompt
from stepfold.values import Message, UsageError, UserMessage

HI = UserMessage("Hi.")


def test_text_is_what_a_person_says() -> None:
    """Messages are what they are, from whatever holds them."""
    assert standardise_prompt("Hi.") == (HI,)
    assert standardise_prompt([HI]) == (HI,)
    assert standardise_prompt(cast("list[Message]", iter([HI]))) == (HI,)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (7, "messages: expected messages, got 7"),
        ("Hi.", "messages: expected messages, got 'Hi.': say whose words these are"),
        (b"Hi.", "messages: expected messages, got b'Hi.'"),
        ([HI, 7], "messages[1]: expected a message, got int"),
    ],
)
def test_what_are_no_messages_is_refused_by_all_that_take_some(given: object, text: str) -> None:
    """Under the name of the argument; text is no prompt there."""
    with pytest.raises(UsageError) as refused:
        inspect_history(cast("list[Message]", given))

    assert str(refused.value).startswith(text)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("", "prompt: expected text or messages, got an empty string"),
        ([], "prompt: expected at least one message, got none"),
        (
            HI,
            "prompt: expected text or a sequence of messages, got UserMessage: put it into a list",
        ),
        (7, "prompt: expected text or a sequence of messages, got 7"),
        (
            {"role": "user", "content": "Hi."},
            (
                "prompt: expected text or a sequence of messages, got {'role': 'user', 'content': "
                "'Hi.'} of role 'user': write UserMessage(…), whose content is text or parts"
            ),
        ),
        (
            [HI, "Hi."],
            (
                "prompt[1]: expected a message, got str: say whose words these are, such as "
                "UserMessage('…')"
            ),
        ),
        (
            [{"role": "developer", "content": "Obey."}],
            (
                "prompt[0]: expected a message, got dict of role 'developer': put its text into "
                "`instructions`"
            ),
        ),
        (
            [{"role": "tool", "tool_call_id": "a", "content": "warm"}],
            (
                "prompt[0]: expected a message, got dict of role 'tool': write "
                "ToolMessage([ToolResult(…)])"
            ),
        ),
        (
            [{"type": "user-message", "content": []}],
            (
                "prompt[0]: expected a message, got dict: read what was stored by "
                "stepfold.codec.from_json"
            ),
        ),
        ([{"role": "oracle"}], "prompt[0]: expected a message, got dict"),
        ([{"role": ["user"]}], "prompt[0]: expected a message, got dict"),
        ([7], "prompt[0]: expected a message, got int"),
    ],
)
def test_what_is_no_prompt_is_refused(given: object, text: str) -> None:
    """As it comes from other libraries, or by mistake."""
    with pytest.raises(UsageError) as refused:
        standardise_prompt(cast("str", given))

    assert str(refused.value) == text
