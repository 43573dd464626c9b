"""`step`: pure, total, and as its table of transitions says."""

import re
from itertools import groupby
from typing import get_args

import pytest

import stepfold.loop._step as module
from stepfold.loop import Done, Phase, Resting, Working, pending, request_of
from stepfold.loop.commands import CallKey, CallModel, Command, ModelCallKey, command_id
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    CallBound,
    CallRepaired,
    Cancelled,
    Event,
    ModelReplied,
    Resumed,
    StepPlan,
    StepPrepared,
    StopChecked,
    TimedOut,
    ToolReturned,
    ToolStarted,
    Waited,
)
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Completed,
    Failed,
    HookFailed,
    NamedTool,
    Text,
    TextOutput,
    ToolMessage,
    ToolResult,
    UnpairedPrompt,
    UserMessage,
)
from tests.loop._scenario import (
    EMPTY_DIGEST,
    ONE,
    TWO,
    Run,
    call,
    calls,
    guarded,
    json,
    policed,
    program,
    reply_of,
    started,
    succeeded,
    tool,
)

PHASES = {kind.__name__ for kind in get_args(Phase)}
EVENTS = {kind.__name__ for kind in get_args(Event)}
COMMANDS = {kind.__name__ for kind in get_args(Command)}

# --- the table --------------------------------------------------------------------------------


def table() -> list[tuple[str, str, str, str]]:
    """Read the table of transitions: phase, owes, event, leads to."""
    doc = module.__doc__ or ""
    lines = doc.splitlines()
    rule = next(i for i, line in enumerate(lines) if set(line.strip()) == {"-", " "})
    columns = [match.start() for match in re.finditer("-+", lines[rule])]
    rows: list[list[str]] = []
    for line in lines[rule + 1 :]:
        if not line.strip():
            break
        starts = zip(columns, [*columns[1:], None], strict=True)
        cells = [line[start:end].strip() for start, end in starts]
        if cells[0]:
            rows.append(cells)
        else:
            rows[-1] = [f"{old} {more}".strip() for old, more in zip(rows[-1], cells, strict=True)]
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def test_the_table_names_phases_commands_and_events_that_exist() -> None:
    """What is documented is what there is."""
    for phase, owes, event, leads_to in table():
        assert phase in PHASES - {"Done"}
        assert owes == "(people and clients)" or set(owes.split()) <= COMMANDS
        assert event in EVENTS
        assert set(leads_to.split()) <= PHASES


def test_the_table_has_every_phase_and_every_answer() -> None:
    """Nothing is left out but what is told below it."""
    rows = table()
    anywhere = {"MessageSteered", "TimedOut", "Cancelled", "CancelRequested", "Resumed"}

    assert {row[0] for row in rows} == PHASES - {"Done"}
    assert {row[2] for row in rows} == EVENTS - anywhere | {"MessageSteered", "Resumed"}
    assert len({(row[0], row[2]) for row in rows}) == len(rows)


def test_every_command_is_owed_in_one_phase() -> None:
    """What is in flight tells where the run is."""
    owed = [
        (command, phase)
        for phase, owes, _, _ in table()
        for command in owes.split()
        if command in COMMANDS
    ]

    assert {command for command, _ in owed} == COMMANDS
    assert all(
        len({phase for _, phase in group}) == 1
        for _, group in groupby(sorted(owed), key=lambda pair: pair[0])
    )


# --- a whole run ------------------------------------------------------------------------------


def test_a_run_is_told_from_its_beginning_to_its_end() -> None:
    """What was issued, what was told and what was said, in their order."""
    run = started(program(tool(), guarded()), "Buy it if it is warm.")
    run.reply("Let me see.", *calls("look", "pay"))
    run.finish(0, "warm")
    run.answer(1)
    run.finish(1, "paid")
    run.reply("Bought.")

    assert [command_id(command) for command in run.commands] == [
        "CallModel/0/0",
        "RunTool/0/0/0",
        "RunTool/0/1/0",
        "CallModel/1/0",
    ]
    assert [type(note).__name__ for note in run.notes] == [
        "StepStarted",
        "CallRequested",
        "CallRequested",
        "ApprovalRequested",
        "ToolFinished",
        "StepFinished",
        "RunBlocked",
        "ToolFinished",
        "StepStarted",
        "StepFinished",
        "RunEnded",
    ]
    asked = ApprovalRequest("r/0/1", "c2", digest=EMPTY_DIGEST)
    assert run.state.messages == (
        UserMessage("Buy it if it is warm."),
        AssistantMessage((Text("Let me see."), call(), call("pay", id="c2"), asked)),
        ToolMessage((ToolResult("c1", "look", TextOutput("warm")),)),
        ToolMessage(
            (
                ApprovalResponse("r/0/1", approved=True),
                ToolResult("c2", "pay", TextOutput("paid")),
            )
        ),
        AssistantMessage("Bought."),
    )
    assert Completed(json("Bought.")) == run.end


# --- purity -----------------------------------------------------------------------------------


def test_equal_inputs_give_equal_outputs() -> None:
    """The same event twice from the same state is the same transition (law 1)."""
    one, other = started(program(tool())), started(program(tool()))
    other.program = one.program
    for run in (one, other):
        run.reply(*calls("look", "look"))
        run.finish(1)

    assert one.transition == other.transition
    assert hash(one.state) == hash(other.state)


def test_time_never_runs_back() -> None:
    """Clocks of two machines disagree; the state's does not."""
    run = started(program(tool()), at=1000)
    key = ModelCallKey(0, 0)
    run.feed(ModelReplied(key, reply_of(call()), 5, started=0))

    assert run.state.now == 1000
    assert (
        run.feed(ToolReturned(run.key(), succeeded(), 7, started=1))
        .state.steps[0]
        .performance.step_time
        == 0
    )


def test_an_end_absorbs_everything() -> None:
    """After an end every event gives the same state and no commands (law 8)."""
    run = started(program(tool()))
    run.reply("Done.")
    before = run.state
    key = CallKey(9, 9, 9)
    for event in (
        ModelReplied(ModelCallKey(9, 9), reply_of("x"), 0, started=0),
        ToolReturned(key, succeeded(), 0, started=0),
        StepPrepared(9, StepPlan(), 0),
        StopChecked(9, None, 0),
        CallRepaired(key, None, 0),
        CallBound(key, None, 0),
        ApprovalDecided(key, "approved", 0),
        Waited(ModelCallKey(9, 9), 0),
        ToolStarted(key, 0),
        Cancelled("enough", 0),
        TimedOut("step", 9, 0),
        Resumed(9, 0),
    ):
        run.feed(event)

        assert before is run.state
        assert run.issued() == ()
    assert Done(Completed(json("Done.")), json("Done.")) == run.state.phase
    assert pending(run.state) == ()


# --- prepare plans ----------------------------------------------------------------------------


def prepared(plan: StepPlan, *, models: tuple[str, ...] = (ONE, TWO)) -> Run:
    """Begin a run whose first step has this plan."""
    run = started(program(tool(), tool("pay"), prepares=True, models=models, instructions="Old."))
    run.prepare(plan)
    return run


def test_a_plan_without_wishes_leaves_things_as_they_are() -> None:
    """`None` is no wish."""
    run = prepared(StepPlan())
    request = request_of(run.program, run.state)

    assert (CallModel(ModelCallKey(0, 0), ONE),) == run.issued()
    assert (
        request.instructions,
        request.tool_choice,
        len(request.tools),
    ) == ("Old.", "auto", 2)
    assert run.state.messages is request.messages


def test_a_plan_chooses_the_model_of_its_step() -> None:
    """The model has to be one that the program names."""
    run = prepared(StepPlan(model=TWO))

    assert (CallModel(ModelCallKey(0, 0), TWO),) == run.issued()

    run.reply(call())
    run.finish()
    run.prepare(StepPlan())

    assert (CallModel(ModelCallKey(1, 0), ONE),) == run.issued()


def test_a_plan_with_an_unknown_model_fails_the_run() -> None:
    """The shell has no model of that name."""
    run = prepared(StepPlan(model="acme/three"))

    assert Failed(HookFailed("prepare_step", "UnknownModel: 'acme/three'")) == run.end


@pytest.mark.parametrize(
    "plan",
    [
        StepPlan(active_tools=("look", "dance")),
        StepPlan(tool_choice=NamedTool("dance")),
        StepPlan(active_tools=("look",), tool_choice=NamedTool("dance")),
        StepPlan(tool_order=("look", "dance")),
        StepPlan(descriptions={"dance": "Dances."}),
    ],
)
def test_a_plan_with_an_unknown_tool_fails_the_run(plan: StepPlan) -> None:
    """Leaving out a misspelt tool would only show in what the model does."""
    run = prepared(plan)

    assert Failed(HookFailed("prepare_step", "UnknownTool: 'dance'")) == run.end
    assert run.issued() == ()


def test_a_plan_does_not_choose_a_tool_that_it_hides() -> None:
    """The model could not call it, and would be blamed for that."""
    run = prepared(StepPlan(active_tools=("look",), tool_choice=NamedTool("pay")))

    assert Failed(HookFailed("prepare_step", "UnknownTool: 'pay'")) == run.end


def test_a_plan_chooses_tools_for_its_step() -> None:
    """Active tools and the tool choice do not carry forward."""
    run = prepared(StepPlan(active_tools=("pay",), tool_choice=NamedTool("pay")))
    request = request_of(run.program, run.state)

    assert [definition.name for definition in request.tools] == ["pay"]
    assert NamedTool("pay") == request.tool_choice

    run.reply(call("pay"))
    run.finish()
    run.prepare(StepPlan())
    request = request_of(run.program, run.state)

    assert len(request.tools) == 2
    assert request.tool_choice == "auto"


def test_the_instructions_of_a_plan_carry_forward() -> None:
    """Until another plan replaces them, also by nothing."""
    run = prepared(StepPlan(instructions="New."))

    assert request_of(run.program, run.state).instructions == "New."

    run.reply(call())
    run.finish()
    run.prepare(StepPlan())

    assert request_of(run.program, run.state).instructions == "New."

    run.reply(call(id="c2"))
    run.finish()
    run.prepare(StepPlan(instructions=""))

    assert request_of(run.program, run.state).instructions == ""


def test_the_messages_of_a_plan_replace_the_prompt_and_not_the_history() -> None:
    """They carry forward and are followed by all later messages (law 4)."""
    run = prepared(StepPlan(messages=(UserMessage("In short: hi."),)))
    history = run.state.messages

    assert (UserMessage("In short: hi."),) == request_of(run.program, run.state).messages

    run.reply(call())
    run.finish()
    run.prepare(StepPlan(instructions="New."))
    request = request_of(run.program, run.state)

    assert (UserMessage("In short: hi."), *run.state.messages[1:]) == request.messages
    assert history == run.state.messages[:1]


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ((AssistantMessage((call(),)),), "the call 'c1' has no result after it"),
        (
            (AssistantMessage((call(),)), UserMessage("Hi.")),
            "the call 'c1' has no result after it",
        ),
        (
            (ToolMessage((ToolResult("c1", "look", TextOutput("warm")),)),),
            "the result of 'c1' answers no call before it",
        ),
    ],
)
def test_a_prompt_that_is_not_paired_fails_the_run(
    messages: tuple[AssistantMessage | UserMessage | ToolMessage, ...], message: str
) -> None:
    """No provider takes it (law 5)."""
    run = prepared(StepPlan(messages=messages))

    assert Failed(UnpairedPrompt(message)) == run.end


def test_a_prepare_function_that_fails_ends_the_run() -> None:
    """The hook and the kind of its exception are named."""
    run = started(program(prepares=True))
    run.prepare(HookFailed("prepare_step", "KeyError"))

    assert Failed(HookFailed("prepare_step", "KeyError")) == run.end


def test_the_time_of_the_prepare_function_counts_as_the_steps() -> None:
    """A step begins when it is taken."""
    run = started(program(prepares=True))
    run.prepare(StepPlan())
    run.reply("Done.")

    assert run.state.steps[0].performance.step_time == 20


# --- answers to nothing -----------------------------------------------------------------------


def test_an_answer_of_the_wrong_kind_changes_nothing() -> None:
    """A binding cannot answer a question for approval."""
    run = started(program(policed()))
    run.reply(call("pay"))
    before = run.state
    run.feed(CallBound(run.key(), None, run.soon))
    run.feed(CallRepaired(run.key(), "{}", run.soon))

    assert before is run.state


def test_a_tool_starts_once() -> None:
    """A second start changes nothing, nor does that of a call that does not run."""
    run = started(program(tool(), guarded()))
    run.reply(*calls("look", "pay"))
    run.start(0)
    before = run.state

    assert run.slot(0).started

    run.start(0)
    run.start(1)

    assert before is run.state


def test_a_tool_does_not_start_at_rest() -> None:
    """What waits for a person does not run."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    before = run.state
    run.start()

    assert isinstance(before.phase, Resting)
    assert before is run.state


def test_a_result_of_a_call_that_does_not_run_changes_nothing() -> None:
    """Only what was issued can return."""
    run = started(program(tool(binds=True)))
    run.reply(call())
    before = run.state
    run.finish()

    assert before is run.state


def test_a_resolution_at_rest_changes_nothing() -> None:
    """What was asked before the step came to rest was answered before it did."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    before = run.state
    run.decide("approved")

    assert before is run.state


def test_an_answer_where_nobody_was_asked_changes_nothing() -> None:
    """Neither while the model is called nor while tools run."""
    run = started(program(tool()))
    before = run.state
    run.feed(ApprovalAnswered("a1", "d", approved=True, at=run.soon))

    assert before is run.state

    run.reply(call())
    working = run.state
    run.feed(ApprovalAnswered("a1", "d", approved=True, at=run.soon))

    assert isinstance(working.phase, Working)
    assert working is run.state
