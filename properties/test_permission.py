"""Law 13: parse, don't guess: what runs was whole, valid, allowed, and agreed to."""

import json

from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import Done, Limits, Program, begin, never
from stepfold.loop.commands import RunTool
from stepfold.testing import Schedule, World, laws, simulate
from stepfold.testing.strategies import argument_texts, programs, schedules, worlds
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    Failure,
    JsonText,
    Message,
    ToolCall,
    ToolMessage,
    ToolPart,
    UserMessage,
    parse_json,
)


@given(st.data(), programs(min_tools=2, limited=0, hooks=20, asking=40))
def test_no_tool_of_a_cut_reply_or_of_bad_arguments_runs(
    data: st.DataObject, program: Program
) -> None:
    world = data.draw(worlds(program=program, min_calls=1, cut=60, hostile=40, failing=0))

    trace = simulate(program, "Hello", world, data.draw(schedules(kinds=())))

    for transition in trace.transitions:
        laws.tools_run_only_if_permitted(program, transition)
    laws.policies_are_asked(trace)
    laws.repairs_count(trace)


@frozen
class Asked:
    """A call in a history that waits for an approval, and what became of it."""

    text: str
    digest: str | None
    approved: bool | None

    @property
    def may_run(self) -> bool:
        """Decided here once more, and otherwise: by the standard library's decoder."""
        try:
            value: object = json.loads(self.text or "{}")
        except (ValueError, RecursionError):
            return False
        members = value if isinstance(value, dict) else {}
        fits = set(members) == {"n"} and type(members["n"]) is int
        exact = self.digest is None or self.digest == digest_of(self.text)
        return fits and exact and self.approved is True


def digest_of(text: str) -> str | None:
    return None if isinstance(parse_json(text), Failure) else JsonText(text).digest()


@st.composite
def asked_calls(draw: st.DrawFn) -> Asked:
    text = draw(argument_texts(hostile=25))
    digest = draw(st.sampled_from([digest_of(text), digest_of(text), None, digest_of('{"n":0}')]))
    return Asked(text, digest, draw(st.sampled_from([True, True, False, None])))


def history_of(asked: list[Asked], *, goes_on: bool) -> list[Message]:
    content: list[AssistantPart] = []
    answers: list[ToolPart] = []
    for index, one in enumerate(asked):
        call = ToolCall(f"c{index}", "look" if index % 2 else "wipe", one.text)
        request = ApprovalRequest(f"a{index}", call.tool_call_id, digest=one.digest)
        content += [call, request]
        if one.approved is not None:
            answers.append(ApprovalResponse(request.approval_id, one.approved))
    messages: list[Message] = [UserMessage("Please"), AssistantMessage(tuple(content))]
    messages += [ToolMessage(tuple(answers))] if answers else []
    messages += [UserMessage("And hurry")] if goes_on else []
    return messages


@given(programs(min_tools=2, limited=0, breaks=0), st.lists(asked_calls(), min_size=1, max_size=4))
def test_a_call_from_the_history_runs_if_exactly_it_was_approved(
    drawn: Program, asked: list[Asked]
) -> None:
    tools = {name: evolve(spec, executes=True) for name, spec in drawn.tools.items()}
    program = evolve(drawn, tools=tools)

    first = begin(program, history_of(asked, goes_on=False), run="run", seed=0, at=0)

    ran = {command.key.index for command in first.commands if isinstance(command, RunTool)}
    assert ran == {index for index, one in enumerate(asked) if one.may_run}


@given(
    st.data(),
    programs(min_tools=2, limited=0, breaks=0, hooks=0, asking=90),
    st.lists(asked_calls(), min_size=1, max_size=3),
)
def test_words_after_open_calls_wait_and_are_not_lost(
    data: st.DataObject, drawn: Program, asked: list[Asked]
) -> None:
    program = evolve(drawn, limits=Limits(), stop_when=never, tool_choice="auto")
    talk = schedules(kinds=("steer", "steer", "crash", "cancel"), max_tick=4)
    world = data.draw(worlds(program=program, max_turns=1))

    trace = simulate(program, history_of(asked, goes_on=True), world, data.draw(talk))

    laws.nothing_said_is_lost(trace)
    laws.policies_are_asked(trace)
    for state in trace.states:
        laws.request_is_paired(program, state)
        laws.cancel_keeps_what_is_finished(program, state)
        laws.end_can_be_sent(state)


@given(programs(min_tools=2, limited=0, breaks=0), st.lists(asked_calls(), min_size=1, max_size=3))
def test_an_approval_counts_once(drawn: Program, asked: list[Asked]) -> None:
    """A history that already holds the results of its approved calls runs nothing again."""
    program = evolve(drawn, stop_when=never)
    trace = simulate(program, history_of(asked, goes_on=False), World(), Schedule())
    if not isinstance(trace.end.phase, Done):
        return

    again = begin(program, trace.end.messages, run="again", seed=0, at=0)

    assert not [command for command in again.commands if isinstance(command, RunTool)]
