"""What a state owes and is owed."""

from stepfold.loop import open_requests, pending
from stepfold.loop.commands import BindCall, CallKey, RepairCall, ResolveApproval, RunTool
from stepfold.values import OpenCall
from tests.loop._scenario import call, calls, guarded, policed, program, started, tool


def test_what_is_in_flight_is_what_was_issued_and_not_answered() -> None:
    """In call order, at every event (law 2)."""
    run = started(program(policed(), tool("book", binds=True), tool(), repairs=True))
    run.reply(call("pay"), call("book", id="c2"), call("look", "{", id="c3"))
    pay, book = ResolveApproval(CallKey(0, 0, 0)), BindCall(CallKey(0, 1, 0))

    assert (pay, book, RepairCall(CallKey(0, 2, 0))) == pending(run.state) == run.issued()

    run.repair(2, "{}")

    assert (pay, book) == pending(run.state)

    run.bind(1)
    run.decide("denied", 0)

    assert (
        RunTool(CallKey(0, 1, 0), "book"),
        RunTool(CallKey(0, 2, 1), "look"),
    ) == pending(run.state)

    run.finish(2)

    assert (RunTool(CallKey(0, 1, 0), "book"),) == pending(run.state)


def test_a_run_at_rest_owes_nothing() -> None:
    """It is owed something."""
    run = started(program(guarded()))
    run.reply(call("pay"))

    assert pending(run.state) == ()
    assert len(open_requests(run.state)) == 1


def test_what_is_open_is_told_while_tools_run() -> None:
    """A person may answer before the step has come to rest; then nothing is owed any more."""
    run = started(program(guarded(), tool(executes=False), tool("other")))
    run.reply(*calls("pay", "look", "other"))

    assert [run.approval(0), OpenCall(0, 1, 0, call("look", id="c2"))] == list(run.open())

    run.answer(0)
    run.finish(1)

    assert run.open() == ()


def test_nobody_owes_anything_where_no_call_is_open() -> None:
    """Neither while the model is called nor at the end."""
    run = started(program())

    assert run.open() == ()

    run.reply("Done.")

    assert run.open() == ()
