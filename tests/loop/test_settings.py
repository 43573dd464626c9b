"""What a plan says of how a model shall answer, over what the program says."""

import pytest
from attrs import evolve

from stepfold.loop import Program, request_of
from stepfold.loop.events import StepPlan
from stepfold.values import CallSettings, JsonText, SystemMessage, UserMessage
from tests.loop._scenario import ONE, Run, started, tool

OWN = JsonText('{"acme":{"cache":true,"user":{"id":1}},"list":[1]}')


def prepared(plan: StepPlan, *, options: JsonText | None = OWN) -> Run:
    """Begin a run whose first step has this plan."""
    made = Program(
        models=(ONE,),
        tools={"look": tool(), "pay": tool("pay")},
        settings=CallSettings(temperature=0.5, seed=3, stop_sequences=("END",)),
        provider_options=options,
        instructions="Be brief.",
        instructions_options=JsonText('{"acme":{"cache":1}}'),
        prepares=True,
    )
    run = started(made)
    run.prepare(plan)
    return run


@pytest.mark.parametrize(
    ("wanted", "settings"),
    [
        (None, CallSettings(temperature=0.5, seed=3, stop_sequences=("END",))),
        (CallSettings(seed=0), CallSettings(temperature=0.5, seed=0, stop_sequences=("END",))),
        (
            CallSettings(temperature=0, stop_sequences=("STOP",)),
            CallSettings(temperature=0, seed=3, stop_sequences=("STOP",)),
        ),
    ],
)
def test_what_a_plan_leaves_open_is_as_in_the_program(
    wanted: CallSettings | None, settings: CallSettings
) -> None:
    """Nothing at all, and no stop sequences, are no wish; zero is one."""
    run = prepared(StepPlan(settings=wanted))

    assert request_of(run.program, run.state).settings == settings


@pytest.mark.parametrize(
    ("own", "over", "merged"),
    [
        (OWN, None, OWN),
        (None, '{"acme":{"cache":true}}', JsonText('{"acme":{"cache":true}}')),
        (None, None, None),
        (
            OWN,
            '{"acme":{"user":{"name":"Ann"},"cache":[0]},"list":{"a":1},"other":2}',
            JsonText.of(
                {
                    "acme": {"cache": [0], "user": {"id": 1, "name": "Ann"}},
                    "list": {"a": 1},
                    "other": 2,
                }
            ),
        ),
    ],
)
def test_options_of_a_plan_are_merged_object_by_object(
    own: JsonText | None, over: str | None, merged: JsonText | None
) -> None:
    """Anything but an object is replaced."""
    plan = StepPlan(provider_options=None if over is None else JsonText(over))
    run = prepared(plan, options=own)

    assert request_of(run.program, run.state).provider_options == merged


def test_a_plan_may_describe_tools_in_other_words() -> None:
    """Those that it does not name keep theirs."""
    look, pay = tool().definition, tool("pay").definition
    plain, told = (
        prepared(StepPlan(descriptions=words)) for words in ({}, {"pay": "Pays at once."})
    )

    assert request_of(plain.program, plain.state).tools == (look, pay)
    assert request_of(told.program, told.state).tools == (
        look,
        evolve(pay, description="Pays at once."),
    )


def test_instructions_with_options_go_before_the_prompt() -> None:
    """Those of a plan too; where there are none, nothing goes there."""
    options = JsonText('{"acme":{"cache":1}}')
    asked = UserMessage("Is it warm?")

    for plan, messages in (
        (StepPlan(), (SystemMessage("Be brief.", provider_options=options), asked)),
        (StepPlan(instructions="Go."), (SystemMessage("Go.", provider_options=options), asked)),
        (StepPlan(instructions=""), (asked,)),
    ):
        run = prepared(plan)
        request = request_of(run.program, run.state)

        assert request.messages == messages
        assert request.instructions == ""
