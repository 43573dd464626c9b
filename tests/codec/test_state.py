"""A state comes back ready to go on, also with what is derived and not written."""

from collections.abc import Iterator
from typing import Literal

import pytest

from stepfold import loop
from stepfold import values as v
from stepfold.codec import decode, encode
from stepfold.loop import commands, events

SCHEMA = v.JsonText('{"type":"object"}')


def _tool(name: str, approval: Literal["never", "always"]) -> loop.ToolSpec:
    definition = v.ToolDefinition(name, "", SCHEMA)
    return loop.ToolSpec(definition=definition, check=lambda _: (), approval=approval)


PROGRAM = loop.Program(
    models=("acme/one",),
    tools={"look": _tool("look", "never"), "buy": _tool("buy", "always")},
    stop_when=loop.never,
)


def _said(*calls: tuple[str, str]) -> v.ModelReply:
    content = tuple(v.ToolCall(call_id, name, "{}") for call_id, name in calls)
    return v.ModelReply(content, v.FinishReason("tool-calls"), v.Usage(7, 1))


def _states() -> Iterator[tuple[loop.LoopState, events.Event]]:
    """Walk through a run whose model uses ids twice; the history has one of them already."""
    history: tuple[v.Message, ...] = (
        v.AssistantMessage(
            (v.ToolCall("a", "buy", "{}"), v.ApprovalRequest("p", "a")),
        ),
        v.ToolMessage((v.ApprovalResponse("p", approved=True),)),
        v.UserMessage("And now?"),
        v.AssistantMessage((v.Text("I wait."), v.ToolCall("h", "look", "{}"))),
        v.UserMessage("Well?"),
    )
    state = loop.begin(PROGRAM, history, run="r", seed=7, at=1).state
    replies = [
        _said(("b", "look"), ("a", "look")),
        _said(("b", "look"), ("h", "look")),
        _said(("b", "buy")),
    ]
    for step, reply in enumerate(replies):
        event: events.Event = events.ModelReplied(
            commands.ModelCallKey(step, 0), reply, 2, started=1
        )
        yield state, event
        state = loop.step(PROGRAM, state, event).state
        for command in loop.pending(state):
            if isinstance(command, commands.RunTool):
                outcome = events.ToolSucceeded(v.TextOutput("ok"))
                event = events.ToolReturned(command.key, outcome, 3, started=2)
                yield state, event
                state = loop.step(PROGRAM, state, event).state
    yield state, events.Cancelled("enough", 4)


def test_run_goes_on_from_its_bytes_as_it_would_have() -> None:
    walked = 0
    for state, event in _states():
        back = decode(encode(state), loop.LoopState).unwrap()

        assert loop.step(PROGRAM, back, event) == loop.step(PROGRAM, state, event)
        for call_id in ("a", "b", "h", "r/0/1", "r/1/0", "r/1/1", "r/2/0", "x"):
            assert (call_id in back.call_ids) == (call_id in state.call_ids)
        walked += 1

    assert walked > 5


@pytest.mark.parametrize("phase", [loop.Preparing(0, 1), loop.Working(0, None, (), 0, 0)])
def test_history_alone_gives_the_ids(phase: loop.Phase) -> None:
    said = v.AssistantMessage((v.Text("Hi"), v.ToolCall("a", "look", "{}")))
    held = v.AssistantMessage((v.ToolCall("b", "look", "{}"),))
    state = loop.LoopState(
        loop.Identity("r", 7, 1, "", 1),
        1,
        loop.Transcript((v.UserMessage("?"), said), held_back=(held,)),
        loop.Ledger(),
        phase,
        loop.Inbox(),
    )

    back = decode(encode(state), loop.LoopState).unwrap()

    assert back == state
    assert "a" in back.call_ids
    assert "b" in back.call_ids
