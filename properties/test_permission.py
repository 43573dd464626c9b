"""Law 13: parse, don't guess: what runs was whole, valid, allowed, and agreed to."""

import json

from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import ApprovalSecret, Done, Limits, Program, begin, never
from stepfold.loop.commands import RunTool
from stepfold.testing import Schedule, Trace, World, laws, simulate
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


def without_repeats(members: list[tuple[str, object]]) -> dict[str, object]:
    """A key that is there twice says two things."""
    if len(dict(members)) < len(members):
        raise ValueError(members)
    return dict(members)


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
            value: object = json.loads(self.text or "{}", object_pairs_hook=without_repeats)
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


@given(
    st.data(),
    programs(min_tools=2, limited=0, breaks=0),
    st.lists(asked_calls(), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
)
def test_a_call_from_the_history_runs_if_exactly_it_was_approved(
    data: st.DataObject, drawn: Program, asked: list[Asked], denies: bool, refuses: bool
) -> None:
    """And if the validators and the policy of today do not object."""
    tools = {name: evolve(spec, executes=True) for name, spec in drawn.tools.items()}
    program = evolve(drawn, tools=tools, tool_approval_secret=None)
    world = World(
        decisions=("denied",) if denies else ("approved", "not-applicable", "user-approval"),
        bindings=("no such thing",) if refuses else (None,),
        answers=(None,),
    )

    order = data.draw(schedules(kinds=()))
    trace = simulate(program, history_of(asked, goes_on=False), world, order)

    def objects(index: int) -> bool:
        spec = tools["look" if index % 2 else "wipe"]
        return (denies and spec.approval == "policy") or (refuses and spec.binds)

    assert ran_before_the_first_step(trace) == {
        index for index, one in enumerate(asked) if one.may_run and not objects(index)
    }


def ran_before_the_first_step(trace: Trace) -> set[int]:
    return {
        command.key.index
        for transition in trace.transitions
        for command in transition.commands
        if isinstance(command, RunTool) and command.key.step < 0
    }


SECRETS = st.sampled_from(["s3cret", b"s3cret", "other"])
TEXTS = st.text(max_size=4) | st.sampled_from(["a0", "c0", "wipe", "\n", "\ud800", "a0\nc0"])


@given(SECRETS, st.tuples(TEXTS, TEXTS, TEXTS), st.tuples(TEXTS, TEXTS, TEXTS), st.data())
def test_a_signature_is_for_one_request_and_one_form_of_its_arguments(
    secret: str | bytes,
    ids: tuple[str, str, str],
    others: tuple[str, str, str],
    data: st.DataObject,
) -> None:
    texts = argument_texts(hostile=0) | st.sampled_from(['{"n": 1.0}', '{"b":1,"a":[2]}', "{}"])
    one, other = data.draw(texts), data.draw(texts)
    key = ApprovalSecret(secret)
    signature = key.signature_of(*ids, one)

    same = json.loads(one, parse_int=float) == json.loads(other, parse_int=float)
    assert key.has_signed(signature, *others, other) == (same and others == ids)
    assert not ApprovalSecret("another").has_signed(signature, *ids, one)


@given(
    st.data(),
    programs(min_tools=2, limited=0, breaks=0, asking=90),
    st.lists(asked_calls(), min_size=1, max_size=3),
    st.lists(st.sampled_from(["s3cret", "another", None]), min_size=3, max_size=3),
)
def test_with_a_secret_only_a_history_that_verifies_runs_anything(
    data: st.DataObject, drawn: Program, asked: list[Asked], secrets: list[str | None]
) -> None:
    program = evolve(drawn, tool_approval_secret="s3cret")
    history = [signed(message, secrets) for message in history_of(asked, goes_on=False)]

    trace = simulate(program, history, World(), data.draw(schedules(kinds=())))

    laws.every_law_holds(trace)
    doubtful = any(
        secret != "s3cret" and one.approved is not False
        for one, secret in zip(asked, secrets, strict=False)
    )
    assert not doubtful or not ran_before_the_first_step(trace)


def signed(message: Message, secrets: list[str | None]) -> Message:
    """Sign the requests of a message, each by its own secret, if it has any."""
    if not isinstance(message, AssistantMessage):
        return message
    calls = [part for part in message.content if isinstance(part, ToolCall)]
    made = iter(zip(calls, secrets, strict=False))
    return AssistantMessage(
        tuple(
            evolve(part, signature=signature_by(*next(made), part.approval_id))
            if isinstance(part, ApprovalRequest)
            else part
            for part in message.content
        )
    )


def signature_by(call: ToolCall, secret: str | None, approval_id: str) -> str | None:
    if secret is None or isinstance(parse_json(call.input or "{}"), Failure):
        return secret
    key = ApprovalSecret(secret)
    return key.signature_of(approval_id, call.tool_call_id, call.tool_name, call.input or "{}")


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
