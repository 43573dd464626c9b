"""Results that a provider gives in a later reply than the one that made the call."""

import pytest

from stepfold.loop import (
    EMPTY_TOOLBOX,
    Calling,
    Limits,
    Program,
    is_step_count,
    never,
    request_of,
    stop_if,
)
from stepfold.loop.events import StepPlan
from stepfold.values import (
    AssistantMessage,
    Completed,
    Custom,
    Failed,
    HookFailed,
    JsonText,
    NamedTool,
    ProviderTool,
    Stop,
    Stopped,
    TextOutput,
    ToolCall,
    ToolError,
    ToolResult,
    UnifiedFinishReason,
    UsageError,
    UserMessage,
)
from tests.loop._scenario import ONE, call, started, tool

SLOW = ProviderTool("acme.search_20260101", "search", supports_deferred_results=True)
CALL = ToolCall("p1", "search", "{}", provider_executed=True, dynamic=True)
FOUND = ToolResult("p1", "search", TextOutput("it is"), provider_executed=True, dynamic=True)


def searching(*, slow: bool = True, prepares: bool = False) -> Program:
    one = SLOW if slow else ProviderTool("acme.search_20260101", "search")
    return Program(
        models=(ONE,),
        tools={"look": tool()},
        provider_tools={one.name: one},
        stop_when=never,
        prepares=prepares,
    )


def test_a_run_goes_on_until_a_deferred_result_is_there() -> None:
    """The next prompt ends with what the model said: there is nothing to add."""
    run = started(searching())
    run.reply("Let me see.", CALL)

    assert run.phase(Calling).step == 1
    assert run.state.toolbox.deferred == (CALL,)
    asked = request_of(run.program, run.state)
    assert [type(message) for message in asked.messages] == [UserMessage, AssistantMessage]

    run.reply(FOUND, "It is warm.")

    assert run.end == Completed(JsonText.of("It is warm."))
    assert run.state.toolbox == EMPTY_TOOLBOX
    assert run.state.steps[1].tool_results == (FOUND,)


def test_a_late_result_has_the_name_of_its_call() -> None:
    """A wire that names it after its kind does not know the call any more."""
    run = started(searching())
    run.reply(CALL)
    run.reply(ToolResult("p1", "search_kind", TextOutput("it is"), provider_executed=True), "Warm.")

    assert run.state.steps[1].tool_results == (FOUND,)
    said = run.state.messages[-1]
    assert isinstance(said, AssistantMessage)
    assert said.content[0] == FOUND


def test_a_late_error_has_the_name_of_its_call() -> None:
    """As a result has."""
    run = started(searching())
    run.reply(CALL)
    run.reply(ToolError("p1", "search_kind", "no net", provider_executed=True), "Sorry.")

    assert [error.tool_name for error in run.state.steps[1].tool_errors] == ["search"]


def test_one_slow_tool_among_several_is_waited_for() -> None:
    """Whatever the others are."""
    quick = ProviderTool("acme.code_20260101", "code")
    tools = {it.name: it for it in (quick, SLOW)}
    run = started(Program(models=(ONE,), provider_tools=tools, stop_when=never))
    run.reply("Let me see.", CALL)

    assert run.state.toolbox.deferred == (CALL,)


def test_a_call_of_a_kind_is_one_of_its_tool() -> None:
    """Its name ends with that of the tool, as that of a shell in a sandbox for code does."""
    run = started(searching())
    run.reply(ToolCall("p1", "deep_search", "{}", provider_executed=True, dynamic=True))

    assert [call.tool_name for call in run.state.toolbox.deferred] == ["deep_search"]
    assert not SLOW.makes("research")


def test_a_late_error_is_a_result_too() -> None:
    run = started(searching())
    run.reply(CALL)
    run.reply(ToolError("p1", "search", "no net", provider_executed=True, dynamic=True), "Sorry.")

    assert run.end == Completed(JsonText.of("Sorry."))


def test_a_preliminary_result_is_not_the_answer() -> None:
    run = started(searching())
    run.reply(CALL)
    shown = ToolResult(
        "p1", "search", TextOutput("…"), provider_executed=True, preliminary=True, dynamic=True
    )
    run.reply(shown, "Still at it.")

    assert run.phase(Calling).step == 2


def test_a_result_of_an_unknown_call_is_kept_and_owes_nothing() -> None:
    orphan = ToolResult("p9", "search", TextOutput("it is"), provider_executed=True)
    run = started(searching())
    run.reply(CALL)
    run.reply(orphan, "Hm.")

    assert run.state.steps[1].tool_results == (orphan,)
    assert run.state.toolbox.deferred == (CALL,)


@pytest.mark.parametrize("content", [(CALL, FOUND), (FOUND, CALL)])
def test_a_result_in_the_same_reply_ends_the_run(
    content: tuple[ToolCall | ToolResult, ...],
) -> None:
    run = started(searching())
    run.reply(*content, "It is warm.")

    assert isinstance(run.end, Completed)


def test_a_tool_that_answers_at_once_is_not_waited_for() -> None:
    """Its call without a result is the provider's affair."""
    run = started(searching(slow=False))
    run.reply(CALL, "Warm, I guess.")

    assert isinstance(run.end, Completed)


def test_client_calls_are_run_meanwhile() -> None:
    """Code that the provider runs may call a tool of ours before it is done."""
    run = started(searching())
    run.reply(CALL, call())
    run.finish()

    assert run.phase(Calling).step == 1
    assert run.state.toolbox.deferred == (CALL,)


@pytest.mark.parametrize(
    ("finish", "goes_on"),
    [("stop", True), ("tool-calls", True), ("other", True), ("length", False), ("error", False)],
)
def test_a_paused_reply_goes_on_and_a_cut_one_does_not(
    finish: UnifiedFinishReason, goes_on: bool
) -> None:
    """A turn that the provider paused ends for a reason of its own."""
    run = started(searching())
    run.reply(CALL, finish=finish)

    assert isinstance(run.state.phase, Calling) is goes_on


def test_a_paused_reply_that_is_owed_nothing_stops_the_run() -> None:
    run = started(searching())
    run.reply("Hm.", finish="other", raw="pause_turn")

    assert run.end == Stopped(Stop("other", JsonText('{"raw":"pause_turn"}')))


def test_conditions_and_limits_bound_the_waiting() -> None:
    """A run that was owed a result is stopped, not complete."""
    for asked in (
        Program(models=(ONE,), provider_tools={"search": SLOW}, stop_when=is_step_count(1)),
        Program(models=(ONE,), provider_tools={"search": SLOW}, limits=Limits(steps=1)),
    ):
        run = started(asked)
        run.reply("Let me see.", CALL)

        assert isinstance(run.end, Stopped)


def test_a_wrap_up_is_the_last_answer() -> None:
    """It may call nothing, and nothing is waited for after it."""
    run = started(
        Program(
            models=(ONE,),
            provider_tools={"search": SLOW},
            stop_when=stop_if(lambda _: True, "other"),
            limits=Limits(wrap_up_tokens=0),
        )
    )
    run.reply(CALL)
    assert run.phase(Calling).wrap == Stop("other")
    run.reply("So far, so good.")

    assert run.end == Stopped(Stop("other"))


def test_a_word_from_outside_does_not_wait_for_a_final_answer() -> None:
    run = started(searching())
    run.steer("And Rome?")
    run.reply("Let me see.", CALL)

    assert run.state.messages[-1] == UserMessage("And Rome?")


def test_provider_tools_are_asked_for_like_any_other() -> None:
    """They are offered beside the others, may be chosen, and are hidden by a plan."""
    chosen = Program(
        models=(ONE,), provider_tools={"search": SLOW}, tool_choice=NamedTool("search")
    )
    run = started(chosen)
    assert request_of(chosen, run.state).provider_tools == (SLOW,)
    run.reply(CALL, FOUND)
    assert isinstance(run.end, Completed)
    must = Program(models=(ONE,), provider_tools={"search": SLOW}, tool_choice="required")
    assert must.tool_names == ("search",)

    planned = started(searching(prepares=True))
    planned.prepare(StepPlan(active_tools=("look",)))
    asked = request_of(planned.program, planned.state)
    assert ([one.name for one in asked.tools], asked.provider_tools) == (["look"], ())

    planned = started(searching(prepares=True))
    planned.prepare(StepPlan(active_tools=("search",), tool_choice=NamedTool("search")))
    asked = request_of(planned.program, planned.state)
    assert (asked.tools, asked.provider_tools) == ((), (SLOW,))

    planned = started(searching(prepares=True))
    planned.prepare(StepPlan(active_tools=("look",), tool_choice=NamedTool("search")))
    assert planned.end == Failed(HookFailed("prepare_step", "UnknownTool: 'search'"))


def test_a_client_call_of_a_provider_tool_is_refused() -> None:
    """Nothing here could answer it."""
    run = started(searching())
    run.reply(call("search"))

    assert [error.kind for error in run.state.steps[0].tool_errors] == ["invalid"]


def test_a_program_names_each_tool_once() -> None:
    with pytest.raises(UsageError, match="expected one tool of each name, got two of 'look'"):
        Program(
            models=(ONE,),
            tools={"look": tool()},
            provider_tools={"look": ProviderTool("acme.look", "look")},
        )


def test_provider_tools_are_part_of_the_fingerprint() -> None:
    assert searching().fingerprint != searching(slow=False).fingerprint


def test_what_only_the_provider_understands_is_left_alone() -> None:
    run = started(searching())
    run.reply(CALL)
    run.reply(Custom("acme.thing"), "Hm.", FOUND)

    assert isinstance(run.end, Completed)
