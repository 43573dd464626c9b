"""Worlds and schedules: what models, tools, policies and people do, and in which order."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from stepfold.loop import Program, ToolSpec
from stepfold.loop.events import (
    ApprovalDecision,
    Spending,
    StepPlan,
    ToolFailed,
    ToolOutcome,
    ToolSucceeded,
)
from stepfold.testing._simulation import Intervention, InterventionKind, Schedule
from stepfold.testing._world import Turn, World
from stepfold.testing.exploration._samples import require_tools, samples_of_tool
from stepfold.testing.strategies._programs import SEARCH_NAME, TOOL_NAMES, flags
from stepfold.values import (
    ApprovalRequest,
    CallSettings,
    FinishReason,
    HookFailed,
    JsonOutput,
    JsonText,
    ModelErrorKind,
    ModelErrorReason,
    ModelReply,
    Reasoning,
    ReplyPart,
    Stop,
    Text,
    TextOutput,
    ToolCall,
    ToolChoice,
    ToolError,
    ToolResult,
    UnifiedFinishReason,
    Usage,
    UserMessage,
)

_UNACCEPTABLE = (
    '{"n":"1"}',
    '{"n": 1, "m": 2}',
    '{"n":1',
    "",
    " ",
    "[1]",
    "null",
    '{"n":NaN}',
    '{"n":1,"n":2}',
    '{"__proto__":{},"n":1}',
    '{"n":"\ud800"}',
    '{"n":"\\ud800"}',
    '{"n":1e999}',
    '{"n":1.0}',
    '{"n":true}',
    "[" * 5_000,
    '{"n":' + "9" * 5_000 + "}",
    "{'n': 1}",
    '\ufeff{"n":1}',
)
_NO_ARGUMENTS: Mapping[str, Sequence[object]] = {}
_STRANGERS = ("no-such-tool", "", "look ", "\ud800", "x" * 2_000)


_GOOD = tuple(f'{{"n":{number}}}' for number in range(10))
"""What the tools of drawn programs accept."""

Fitting: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Texts that tools of a user's own accept, by their names."""


def fitting_arguments(program: Program, given: Mapping[str, Sequence[object]]) -> Fitting:
    """What a model calls those tools of a program with that do not take the arguments drawn here.

    Raises:
        UsageError: arguments are given for no tool of the program, or such as it does not accept;
            or there is a tool for which none are given, and none can be made from its schema.
    """
    require_tools(program, given)
    return tuple(
        (name, samples_of_tool(tool, given.get(name)))
        for name, tool in program.tools.items()
        if name in given or not _takes_drawn(tool)
    )


def _takes_drawn(tool: ToolSpec) -> bool:
    drawn = {"query": "look it"} if tool.name == SEARCH_NAME else {"n": 0}
    return not tool.check(drawn)


def argument_texts(*, hostile: int = 25) -> SearchStrategy[str]:
    """Draw what a model writes as arguments; so many of a hundred are not acceptable."""
    return _argument_texts(hostile)


@cache
def _argument_texts(hostile: int) -> SearchStrategy[str]:
    good = [*_GOOD] * 10
    count = hostile * len(good) // max(1, 100 - hostile)
    bad = [_UNACCEPTABLE[index % len(_UNACCEPTABLE)] for index in range(count)]
    return st.sampled_from(good + bad)


def call_ids() -> SearchStrategy[str]:
    """Draw ids of calls: few of them, so that they meet; blank ones, and such as a run derives."""
    return _call_ids()


@cache
def _call_ids() -> SearchStrategy[str]:
    return st.sampled_from(
        ["", "c1", "c2", "c3", "c4", "c5", "c6", "run/0/0", "run/1/0", "run/0/1"]
    )


def tool_calls(
    *, tools: Sequence[str], hostile: int = 25, strangers: int = 5
) -> SearchStrategy[ToolCall]:
    """Draw calls; so many of a hundred are `strangers`, which name a tool that does not exist."""
    return _tool_calls(tuple(tools), hostile, strangers, ())


@cache
def _tool_calls(
    tools: tuple[str, ...], hostile: int, strangers: int, fitting: Fitting
) -> SearchStrategy[ToolCall]:
    known = [*tools] * (60 // max(1, len(tools))) if tools else []
    count = strangers * len(known) // max(1, 100 - strangers) if tools else 5
    strange = [_STRANGERS[index % len(_STRANGERS)] for index in range(count)]
    names = st.sampled_from(known + strange)
    queries = st.sampled_from([f'{{"query":"{name} it"}}' for name in (*TOOL_NAMES, "fly")])

    own = dict(fitting)

    def built(call_id: str, name: str, text: str, query: str) -> ToolCall:
        if name in own and text in _GOOD:
            text = own[name][_GOOD.index(text) % len(own[name])]
        elif name == SEARCH_NAME and name not in own:
            text = query
        return ToolCall(call_id, name, text)

    return st.builds(built, call_ids(), names, argument_texts(hostile=hostile), queries)


@cache
def _provider_parts() -> SearchStrategy[tuple[ReplyPart, ...]]:
    """Draw a call that the provider executed, with its result, its error, or neither.

    Or one that it asks to be approved, with arguments that need be no JSON.

    Or a result alone, of a call made before or never.
    """

    def parts(call_id: str, answer: str) -> tuple[ReplyPart, ...]:
        call = ToolCall(call_id, "search", "{}", provider_executed=True)
        match answer:
            case "result":
                found = TextOutput("found")
                return (call, ToolResult(call_id, "search", found, provider_executed=True))
            case "late":
                found = TextOutput("found")
                return (ToolResult(call_id, "searched", found, provider_executed=True),)
            case "error":
                return (call, ToolError(call_id, "search", "\ud800", provider_executed=True))
            case "asked":
                return (call, ApprovalRequest(f"may {call_id}", call_id, reason="it costs"))
            case "asked oddly":
                odd = ToolCall(call_id, "search", "\ud800{", provider_executed=True)
                return (odd, ApprovalRequest(f"may {call_id}", call_id))
            case _:
                return (call,)

    kinds = ["result", "error", "later", "late", "asked", "asked", "asked oddly"]
    return st.builds(parts, call_ids(), st.sampled_from(kinds))


@cache
def _prefixes() -> SearchStrategy[tuple[ReplyPart, ...]]:
    """Draw what a model says before its calls."""
    texts: list[tuple[ReplyPart, ...]] = [
        (Text("So be it."),),
        (),
        (Text("7"),),
        (Text(""), Text("7")),
        (Reasoning("Hm."),),
        (Reasoning(""), Text("7")),
        (Reasoning("Hm."), Text("\ud800")),
    ]
    said = st.sampled_from(texts)
    return flags(percent=10).flatmap(lambda searches: _provider_parts() if searches else said)


def usages() -> SearchStrategy[Usage]:
    """Draw what a reply cost, at most a hundred tokens; rarely the provider does not tell."""
    return _usages()


@cache
def _usages() -> SearchStrategy[Usage]:
    figures = (0, 5, 10, 40)
    known = [Usage(given, said) for given in figures for said in (5, 0, 20, 60)]
    return st.sampled_from([*known, Usage(), Usage(7)])


def model_replies(
    *,
    tools: Sequence[str],
    min_calls: int = 0,
    max_calls: int = 4,
    hostile: int = 15,
    strangers: int = 5,
    cut: int = 15,
) -> SearchStrategy[ModelReply]:
    """Draw replies; `hostile`, `strangers` and `cut` are percentages of calls and of replies.

    A reply that is `cut` ends with any finish reason, whatever its content.
    """
    calls = _tool_calls(tuple(tools), hostile, strangers, ())
    most = max_calls if tools else min(max_calls, 1)
    return _model_replies(calls, min(min_calls, most), most, cut)


@cache
def _model_replies(
    one_call: SearchStrategy[ToolCall], min_calls: int, max_calls: int, cut: int
) -> SearchStrategy[ModelReply]:
    reasons: list[UnifiedFinishReason] = [
        *("length", "content-filter", "error", "length", "content-filter"),
        *("interrupted", "other", "stop", "tool-calls"),
    ]
    natural: list[UnifiedFinishReason | None] = [None] * (100 - cut)
    finishes = st.sampled_from(natural + [reasons[index % len(reasons)] for index in range(cut)])
    calls = st.lists(one_call, min_size=min_calls, max_size=max_calls)

    def built(
        prefix: tuple[ReplyPart, ...],
        asked: list[ToolCall],
        finish: UnifiedFinishReason | None,
        usage: Usage,
    ) -> ModelReply:
        normal: UnifiedFinishReason = "tool-calls" if asked else "stop"
        raw = None if finish is None else "\ud800"
        return ModelReply((*prefix, *asked), FinishReason(finish or normal, raw), usage)

    return st.builds(built, _prefixes(), calls, finishes, usages())


def model_errors() -> SearchStrategy[ModelErrorReason]:
    """Draw failures of models: mostly such as may be gone at the next attempt."""
    return _model_errors()


@cache
def _model_errors() -> SearchStrategy[ModelErrorReason]:
    kinds: list[ModelErrorKind] = [
        *("server", "overloaded", "rate-limit", "connection", "timeout", "protocol"),
        *("authentication", "bad-request", "context-length"),
    ]
    return st.sampled_from(
        [
            ModelErrorReason(kind, "it did not answer", retry_after=after)
            for kind in kinds
            for after in (None, None, 0, 2 * 10**9)
        ]
    )


def turns(
    *,
    tools: Sequence[str],
    min_calls: int = 0,
    max_calls: int = 4,
    hostile: int = 15,
    strangers: int = 5,
    cut: int = 15,
    failing: int = 15,
) -> SearchStrategy[Turn]:
    """Draw what comes of the model calls of one step; `failing` is a percentage of steps."""
    replies = model_replies(
        tools=tools,
        min_calls=min_calls,
        max_calls=max_calls,
        hostile=hostile,
        strangers=strangers,
        cut=cut,
    )
    return _turns(replies, failing)


@cache
def _turns(replies: SearchStrategy[ModelReply], failing: int) -> SearchStrategy[Turn]:
    failures = st.lists(model_errors(), min_size=1, max_size=4).map(tuple)
    failed = st.builds(Turn, replies, failures)
    plain = st.builds(Turn, replies)
    return flags(percent=failing).flatmap(lambda fails: failed if fails else plain)


def tool_outcomes() -> SearchStrategy[ToolOutcome]:
    """Draw what tools and clients give."""
    return _tool_outcomes()


@cache
def _tool_outcomes() -> SearchStrategy[ToolOutcome]:
    return st.sampled_from(
        [
            ToolSucceeded(TextOutput("done")),
            ToolSucceeded(JsonOutput(JsonText('{"a": 1}')), JsonText("[0,false]")),
            ToolFailed("it broke"),
            ToolFailed("too late", "timeout"),
            ToolFailed("no", "failed", JsonText("7")),
        ]
    )


_SETTINGS: tuple[CallSettings | None, ...] = (
    *(None, None, None),
    *(CallSettings(max_output_tokens=most, temperature=0.0) for most in (1, 30, 5_000)),
)


def step_plans(*, program: Program) -> SearchStrategy[StepPlan | HookFailed]:
    """Draw what a prepare function wants; mostly little."""
    replaced = (UserMessage("In short: go on."),)
    nothing = st.none()
    rarely: list[ToolChoice | None] = [*[None] * 14, "none", "auto"]
    names = _subsets(program.tool_names)
    plans = st.builds(
        StepPlan,
        model=nothing | st.sampled_from(program.every_model),
        tool_choice=st.sampled_from(rarely),
        active_tools=nothing | names,
        instructions=st.sampled_from([None, None, "Be kind."]),
        messages=st.sampled_from([None, None, replaced]),
        tool_order=nothing | names,
        descriptions=names.map(lambda chosen: {name: f"Now do {name}." for name in chosen or ()}),
        settings=st.sampled_from(_SETTINGS),
        provider_options=nothing | st.just(JsonText('{"acme":{"cache":true}}')),
        runtime_context=st.sampled_from([None, None, JsonText('{"tries":1}'), JsonText("[1]")]),
    )
    failed: list[StepPlan | HookFailed] = [HookFailed("prepare_step", "ValueError")]
    plain: list[StepPlan | HookFailed] = [StepPlan()] * 4
    return st.sampled_from(plain + failed) | plans


@cache
def _spendings() -> SearchStrategy[Spending | None]:
    """Draw what runs of tools have spent: mostly little, at times more than any grant."""
    known: list[Spending | None] = [
        Spending(Usage(5, 5), 10, 15, 15, 1),
        Spending(),
        Spending(Usage(40, 40), 80, 120, 120, 2),
        Spending(Usage(), 30, None, 40, 0),
        None,
    ]
    return st.sampled_from(known)


@st.composite
def worlds(
    draw: DrawFn,
    *,
    program: Program,
    min_turns: int = 1,
    max_turns: int = 4,
    min_calls: int = 0,
    max_calls: int = 4,
    hostile: int = 15,
    cut: int = 15,
    failing: int = 15,
    arguments: Mapping[str, Sequence[object]] = _NO_ARGUMENTS,
) -> World:
    """Draw worlds for a program; after the drawn turns the model gives a final answer.

    A model calls tools with `arguments`, by tool, else with simple ones made from their schemas,
    and so many of a hundred times with `hostile` ones.

    Raises:
        UsageError: arguments are given for no tool of the program, or such as it does not accept;
            or there is a tool for which none are given, and none can be made from its schema.
    """
    names = tuple(program.tools)
    one_call = _tool_calls(names, hostile, 5, fitting_arguments(program, arguments))
    most = max_calls if names else min(max_calls, 1)
    one_turn = _turns(_model_replies(one_call, min(min_calls, most), most, cut), failing)
    script = draw(st.lists(one_turn, min_size=min_turns, max_size=max_turns))
    plans = draw(st.lists(step_plans(program=program), max_size=3)) if program.prepares else []
    stop = Stop("patience", JsonText('{"left":0}'))
    failed = HookFailed("check", "OSError")
    stops: list[tuple[Stop | HookFailed | None, ...]] = [(None,), (None, stop), (None, failed)]
    decisions: list[ApprovalDecision] = [
        *("approved", "not-applicable", "user-approval", "user-approval", "denied")
    ]
    repaired = st.none() | argument_texts(hostile=30)
    return World(
        turns=tuple(script),
        plans=tuple(plans),
        repairs=tuple(draw(st.lists(repaired, min_size=1, max_size=3))),
        bindings=draw(st.sampled_from([(None,), (None, "n is too small")])),
        refinements=tuple(draw(st.lists(repaired, min_size=1, max_size=3))),
        decisions=tuple(draw(st.lists(st.sampled_from(decisions), min_size=1, max_size=3))),
        outcomes=tuple(draw(st.lists(tool_outcomes(), min_size=1, max_size=3))),
        answers=tuple(
            draw(st.lists(st.sampled_from([True, False, True, None]), min_size=1, max_size=3))
        ),
        stops=draw(st.sampled_from(stops)),
        outputs=draw(st.sampled_from([(None,), (None, "too small"), ("too small",)])),
        spendings=tuple(draw(st.lists(_spendings(), min_size=1, max_size=3))),
        reports_partial=draw(st.booleans()),
        announces=draw(st.booleans()),
    )


KINDS: tuple[InterventionKind, ...] = (
    *("steer", "queue", "crash", "steer", "queue", "crash"),
    *("cancel", "cancel-after-step", "run-timeout", "step-timeout"),
)


def schedules(
    *, kinds: Sequence[InterventionKind] = KINDS, max_interventions: int = 3, max_tick: int = 30
) -> SearchStrategy[Schedule]:
    """Draw orders of answers, and what comes from outside meanwhile."""
    orders = st.lists(st.integers(0, 7), min_size=1, max_size=8).map(tuple)
    if not kinds or not max_interventions:
        return st.builds(Schedule, orders)
    intervention = st.builds(
        Intervention, st.integers(0, max_tick), st.sampled_from(list(kinds)), st.booleans()
    )
    several = st.lists(intervention, max_size=max_interventions).map(tuple)
    return st.builds(Schedule, orders, several)


@cache
def _subsets(names: tuple[str, ...]) -> SearchStrategy[tuple[str, ...] | None]:
    if not names:
        return st.just(())
    return st.lists(st.sampled_from(names), unique=True).map(tuple)
