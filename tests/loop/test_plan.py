"""Plans: what a prepare function may want, and what is refused where it is made."""

from collections.abc import Callable
from typing import cast

import pytest

from stepfold.loop.events import StepPlan
from stepfold.values import (
    AssistantMessage,
    JsonText,
    Message,
    NamedTool,
    SystemMessage,
    Text,
    ToolCall,
    ToolChoice,
    ToolMessage,
    UsageError,
    UserMessage,
)
from tests.loop._scenario import reply_of

untyped = cast("Callable[..., StepPlan]", StepPlan)
"""The class, as code that is not type-checked calls it."""

call = cast("Callable[..., ToolCall]", ToolCall)
say = cast("Callable[..., AssistantMessage]", AssistantMessage)
answer = cast("Callable[..., ToolMessage]", ToolMessage)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("model", 5, "StepPlan.model: expected text, got 5"),
        ("instructions", b"Be", "StepPlan.instructions: expected text, got b'Be'"),
        ("tool_choice", "always", "StepPlan.tool_choice: expected 'auto', 'none', 'required'"),
        ("active_tools", 5, "StepPlan.active_tools: expected names of tools, got 5"),
        ("active_tools", "look", "StepPlan.active_tools: expected names of tools, got 'look'"),
        ("active_tools", ["look", None], "StepPlan.active_tools[1]: expected the name of a tool"),
        ("tool_order", 5, "StepPlan.tool_order: expected names of tools, got 5"),
        ("tool_order", ["look", 5], "StepPlan.tool_order[1]: expected the name of a tool"),
        ("descriptions", 5, "StepPlan.descriptions: expected a mapping from tools to texts"),
        ("descriptions", {"look": 5}, "StepPlan.descriptions: expected a mapping from tools to"),
        ("messages", "Hello", "StepPlan.messages: expected a sequence of messages, got 'Hello'"),
        ("messages", {"role": "user"}, "StepPlan.messages: expected a sequence of messages"),
        ("messages", [UserMessage("a"), 5], "StepPlan.messages[1]: expected a message, got 5"),
        ("messages", [SystemMessage], "StepPlan.messages[0]: expected a message"),
        ("messages", [say([5])], "StepPlan.messages[0]: expected a message"),
        ("messages", [say([call([], "look", "{}")])], "StepPlan.messages[0]: expected"),
        ("messages", [reply_of("Hello")], "StepPlan.messages[0]: expected a message"),
        ("messages", [answer([]), answer([Text("x")])], "StepPlan.messages[1]: expected"),
        ("settings", {"seed": 1}, "StepPlan.settings: expected CallSettings, got {'seed': 1}"),
        ("provider_options", "{}", "StepPlan.provider_options: expected a mapping, got '{}'"),
        ("runtime_context", [1], "StepPlan.runtime_context: expected a mapping, got [1]"),
        ("runtime_context", {"a": {1}}, "StepPlan.runtime_context: expected what has a JSON form"),
        ("runtime_context", {"a": "\ud800"}, "StepPlan.runtime_context: expected what has a JSON"),
    ],
)
def test_what_is_not_of_its_type_is_refused_where_the_plan_is_made(
    name: str, given: object, told: str
) -> None:
    """Further on nothing could tell the user whose mistake it was."""
    with pytest.raises(UsageError) as caught:
        untyped(**{name: given})

    assert told in str(caught.value)


@pytest.mark.parametrize("choice", [None, "auto", "none", "required", NamedTool("look")])
def test_every_choice_of_tools_may_be_planned(choice: ToolChoice | None) -> None:
    assert StepPlan(tool_choice=choice).tool_choice == choice


def test_any_sequence_will_do_and_is_kept_as_a_tuple() -> None:
    """A plan goes into the state, so nothing in it can change any more."""
    said: list[Message] = [UserMessage("In short"), AssistantMessage("Yes."), SystemMessage("So.")]

    context: dict[str, object] = {"a": [1]}
    plan = StepPlan(active_tools=["look"], messages=said, runtime_context=context)
    said.clear()
    context.clear()

    assert ("look",) == plan.active_tools
    assert plan.messages is not None
    assert len(plan.messages) == 3
    assert plan.runtime_context == JsonText('{"a":[1]}')
