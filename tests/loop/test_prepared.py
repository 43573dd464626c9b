"""Plans taken: what a plan changes, for one step or for good, and which ones end the run."""

import pytest

from stepfold.loop import Limits, LoopState, Program, request_of
from stepfold.loop.commands import CallModel
from stepfold.loop.events import StepPlan
from stepfold.values import (
    CallSettings,
    Failed,
    HookFailed,
    JsonObject,
    JsonText,
    ModelRequest,
    Usage,
    UsageError,
    UserMessage,
)
from tests.loop._scenario import Run, call, program, started, tool

OPTIONS = JsonText('{"acme":{"cache":{"on":true,"for":5},"tags":[1]},"other":1}')


def asked(run: Run) -> ModelRequest:
    """Give the request that is in flight."""
    return request_of(run.program, run.state)


def next_step(run: Run, plan: StepPlan) -> None:
    """Let the model call a tool, and prepare the step after it."""
    run.reply(call(id=f"c{len(run.state.steps)}"))
    run.finish()
    run.prepare(plan)


# --- for this step only -----------------------------------------------------------------------


def test_settings_of_a_plan_stand_over_those_of_the_program_in_its_step() -> None:
    """What is `None` falls back; 0 is a value."""
    given = CallSettings(temperature=0.7, top_k=5, stop_sequences=("END",), seed=1)
    run = started(program(tool(), prepares=True, settings=given))
    run.prepare(StepPlan(settings=CallSettings(temperature=0.0, seed=0, max_output_tokens=9)))

    expected = CallSettings(
        max_output_tokens=9, temperature=0.0, top_k=5, stop_sequences=("END",), seed=0
    )
    assert asked(run).settings == expected

    next_step(run, StepPlan())

    assert asked(run).settings == given


def test_options_for_the_provider_are_merged_object_by_object_in_their_step() -> None:
    """Anything but an object is replaced; an option that is new comes last."""
    run = started(program(tool(), prepares=True, provider_options=OPTIONS))
    plan = {"acme": {"cache": {"for": 0}, "tags": [], "new": None}, "other": {"a": 1}}
    run.prepare(StepPlan(provider_options=plan))

    merged = '{"acme":{"cache":{"on":true,"for":0},"tags":[],"new":null},"other":{"a":1}}'
    assert asked(run).provider_options == JsonText(merged)

    next_step(run, StepPlan())

    assert asked(run).provider_options == OPTIONS


def test_options_of_a_plan_alone_are_sent_as_they_are() -> None:
    """Where the program has none."""
    run = started(program(tool(), prepares=True))
    run.prepare(StepPlan(provider_options=OPTIONS))

    assert asked(run).provider_options == OPTIONS


@pytest.mark.parametrize(
    ("limit", "wanted", "allowed", "reserved"),
    [(None, 60, 60, 60), (100, 60, 60, 60), (50, 60, 50, 50), (50, None, 50, 0)],
)
def test_a_plan_wants_no_more_output_than_there_is_room_for(
    limit: int | None, wanted: int | None, allowed: int, reserved: int
) -> None:
    """The budget of tokens holds for it, too (law 9)."""
    run = started(program(tool(), prepares=True, limits=Limits(tokens=limit)))
    run.prepare(StepPlan(settings=CallSettings(max_output_tokens=wanted, temperature=0.0)))

    assert asked(run).settings.max_output_tokens == allowed
    assert run.state.ledger.reserved == reserved


def test_a_retry_of_a_planned_call_keeps_within_what_is_left() -> None:
    """A failed attempt may have cost something."""
    run = started(program(tool(), prepares=True, limits=Limits(tokens=50)))
    run.prepare(StepPlan(settings=CallSettings(max_output_tokens=45)))
    run.fail(partial=None)
    run.wait()

    assert isinstance(run.issued()[0], CallModel)
    assert asked(run).settings.max_output_tokens == 5
    run.reply("Done.", usage=Usage(1, 4))
    assert run.state.ledger.reserved == 0


# --- carried forward --------------------------------------------------------------------------


def contexts(state: LoopState) -> JsonObject:
    return state.runtime_context


def test_the_context_of_a_run_is_kept_until_a_plan_replaces_it() -> None:
    """It is replaced as a whole, and carries forward."""
    given = JsonText('{"tenant":"a","tries":0}')
    run = started(program(tool(), prepares=True), runtime_context=given)

    assert contexts(run.state) == JsonObject({"tenant": "a", "tries": 0})

    run.prepare(StepPlan())
    next_step(run, StepPlan(runtime_context={"tries": 1}))
    next_step(run, StepPlan())
    run.reply("Done.")

    assert contexts(run.state) == JsonObject({"tries": 1})


def test_a_run_without_a_context_has_an_empty_one() -> None:
    """Also one whose stored context is no object, which none that was begun has."""
    run = started(program(tool()))

    assert contexts(run.state) == JsonObject({})


def test_all_that_carries_forward_may_come_in_one_plan() -> None:
    """Instructions, the base of the prompt and the context."""
    run = started(program(tool(), prepares=True, instructions="Old."))
    short = UserMessage("In short: hi.")
    run.prepare(StepPlan(instructions="New.", messages=[short], runtime_context={"a": 1}))
    next_step(run, StepPlan())

    assert asked(run).instructions == "New."
    assert asked(run).messages[0] == short
    assert asked(run).messages == run.state.prompt
    assert contexts(run.state) == JsonObject({"a": 1})


# --- what is no object ------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["[1]", '"x"', "{", '{"a":' * 70 + "1" + "}" * 70])
def test_documents_that_are_no_objects_end_the_run(text: str) -> None:
    """They would be in the state, and in requests, from here on."""
    for name in ("provider_options", "runtime_context"):
        run = started(program(tool(), prepares=True))
        document = JsonText(text)
        run.prepare(
            StepPlan(provider_options=document)
            if name == "provider_options"
            else StepPlan(runtime_context=document)
        )

        assert isinstance(run.end, Failed)
        assert isinstance(run.end.error, HookFailed)
        told = f"UsageError: StepPlan.{name}: expected a JSON object, got"
        assert run.end.error.exception.startswith(told)


def test_a_run_begins_with_a_context_that_is_an_object() -> None:
    """The text says what came."""
    with pytest.raises(UsageError, match=r"runtime_context: expected a JSON object, got '\[1\]'"):
        started(Program(models=("a/b",)), runtime_context=JsonText("[1]"))
