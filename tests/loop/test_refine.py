"""Arguments that a hook puts in the place of the model's."""

import pytest

from stepfold.loop.commands import BindCall, RunTool
from stepfold.loop.notes import ApprovalRequested, CallRejected, CallRequested
from stepfold.values import AssistantMessage, ToolCall, ToolError
from tests.loop._scenario import Run, call, digest_of, guarded, policed, program, started, tool


def said(run: Run) -> list[str]:
    """List the arguments of all calls, as the history holds them."""
    return [
        part.input
        for message in run.state.messages
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolCall)
    ]


def test_refined_arguments_are_what_runs_and_what_is_kept() -> None:
    run = started(program(tool(refines=True)))
    run.reply(call(text='{"n":1}'))
    assert run.issued() == (BindCall(run.key()),)
    run.bind(refined='{"n":2}')

    assert run.issued() == (RunTool(run.key(), "look"),)
    assert run.slot().call.input == '{"n":2}'
    run.finish()

    assert said(run) == ['{"n":2}']
    assert [part.input for part in run.state.steps[0].tool_calls] == ['{"n":2}']
    assert [note.call.input for note in run.told(CallRequested)] == ['{"n":2}']


def test_a_hook_that_changes_nothing_leaves_the_models_own_text() -> None:
    run = started(program(tool(refines=True)))
    run.reply(call(text='{ "n": 1 }'))
    run.bind()
    run.finish()

    assert said(run) == ['{ "n": 1 }']


def test_a_person_is_asked_about_refined_arguments() -> None:
    """An approval is for what will run."""
    run = started(program(guarded(refines=True)))
    run.reply(call("pay", '{"n":1}'))
    assert run.told(ApprovalRequested) == []
    run.bind(refined='{"n":2}')

    assert (run.approval().digest, run.approval().call.input) == (digest_of('{"n":2}'), '{"n":2}')


def test_a_policy_sees_refined_arguments() -> None:
    run = started(program(policed(refines=True)))
    run.reply(call("pay", '{"n":1}'))
    run.bind(refined='{"n":2}')
    run.decide("approved")

    approval = run.slot().approval
    assert approval is not None
    assert approval.digest == digest_of('{"n":2}')


@pytest.mark.parametrize(
    ("refined", "error"),
    [
        ('{"bad":1}', "as refined, the arguments do not fit the schema of look: /bad"),
        ('{"n":', "as refined, the arguments are not acceptable JSON"),
        ("[]", "as refined, the arguments do not fit the schema of look: (the whole input)"),
    ],
)
def test_refined_arguments_are_checked_like_the_models(refined: str, error: str) -> None:
    """The call is invalid as the model made it."""
    run = started(program(tool(refines=True)))
    run.reply(call(text='{"n":1}'))
    run.bind(refined=refined)

    [rejected] = run.told(CallRejected)
    assert rejected.error.startswith(error)
    assert said(run) == ['{"n":1}']
    [part] = run.state.steps[0].tool_errors
    assert (part.kind, part.error) == ("invalid", rejected.error)


def test_a_hook_that_fails_makes_the_call_invalid() -> None:
    run = started(program(tool(refines=True, binds=True)))
    run.reply(call())
    run.bind(error="the arguments could not be refined: ValueError: no")

    assert isinstance(run.state.steps[0].content[-1], ToolError)


def test_only_acceptable_arguments_are_refined_and_repaired_ones_too() -> None:
    run = started(program(tool(refines=True), repairs=True))
    run.reply(call(text='{"bad":1}'))
    run.repair(text="{}")
    assert run.issued() == (BindCall(run.key()),)
    run.bind(refined='{"n":2}')
    run.finish()

    assert said(run) == ['{"n":2}']
    assert program(tool(refines=True)).fingerprint != program(tool()).fingerprint
