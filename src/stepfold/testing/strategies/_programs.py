"""Programs: tools of every kind, limits, hooks, conditions."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Literal, TypeAlias, TypeVar, cast

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from typing_extensions import override

from stepfold.loop import (
    TEXT_OUTPUT,
    Condition,
    Limits,
    OutputSpec,
    Program,
    Progress,
    RetryPolicy,
    StopCondition,
    ToolSpec,
    all_of,
    always,
    any_of,
    cost_budget,
    deadline,
    has_tool_call,
    is_loop_finished,
    is_step_count,
    negate,
    never,
    search_spec,
    stalled,
    stop_if,
    text_matches,
    token_budget,
    tool_call_budget,
)
from stepfold.schema import SchemaFault
from stepfold.values import (
    CallSettings,
    Failure,
    JsonText,
    NamedTool,
    NoOutput,
    Outcome,
    Price,
    ProviderTool,
    Stop,
    Success,
    ToolChoice,
    ToolDefinition,
)

T = TypeVar("T")

_Approval: TypeAlias = Literal["never", "always", "policy"]

_MODELS = ("scripted/a", "scripted/b", "scripted/c")
_METADATA = JsonText('{"icon":"eye"}')

TOOL_NAMES = ("look", "wipe", "ask", "send")
SEARCH_NAME = "find"
_SEARCH = ProviderTool("scripted.search", "search")
_SLOW_SEARCH = ProviderTool("scripted.search", "search", supports_deferred_results=True)

_SCHEMA = JsonText.of(
    {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
)


def weighted(*entries: tuple[int, T]) -> SearchStrategy[T]:
    """Draw values, each as often as its weight says; failures shrink towards the first."""
    return st.sampled_from([value for weight, value in entries for _ in range(weight)])


@cache
def flags(*, percent: int) -> SearchStrategy[bool]:
    """Draw `True` in so many of a hundred cases."""
    return st.sampled_from([False] * (100 - percent) + [True] * percent)


def _check(value: object) -> tuple[SchemaFault, ...]:
    """The decoder of every drawn tool: an object with one integer `n`."""
    if not isinstance(value, dict):
        return (SchemaFault("", f"expected an object, got {type(value).__name__}"),)
    members = cast("dict[object, object]", value)
    if set(members) != {"n"}:
        return (SchemaFault("", "expected exactly the key n"),)
    number = members["n"]
    if not isinstance(number, int) or isinstance(number, bool):
        return (SchemaFault("/n", f"expected an integer, got {type(number).__name__}"),)
    return ()


def tool_specs(*, name: str = "look", asking: int = 50) -> SearchStrategy[ToolSpec]:
    """Draw tools that take an object with an integer `n`; a plain one is the simplest.

    So many of a hundred are `asking`: they need a policy, a person or a client.
    """
    return _tool_specs(name, asking)


@cache
def _tool_specs(name: str, asking: int) -> SearchStrategy[ToolSpec]:
    definition = ToolDefinition(name, f"Do {name}.", _SCHEMA)

    def specs(approval: _Approval, *, executes: bool) -> list[ToolSpec]:
        return [
            ToolSpec(
                definition=definition,
                check=_check,
                executes=executes,
                approval=approval,
                binds=binds,
                refines=binds and idempotent,
                idempotent=idempotent,
                max_retries=1 if binds else None,
                timeout=1_000 if binds is idempotent else None,
                title=name.title() if idempotent else None,
                metadata=_METADATA if idempotent and binds else None,
                dynamic=binds,
            )
            for binds in (False, False, False, False, True)
            for idempotent in (False, True)
        ]

    plain = specs("never", executes=True)
    others = [
        *specs("always", executes=True),
        *specs("policy", executes=True),
        *specs("never", executes=False),
        *specs("always", executes=False),
        *specs("policy", executes=True),
    ]
    tenths = asking // 10
    return st.sampled_from(plain * 5 * (10 - tenths) + others * tenths)


@st.composite
def limits(
    draw: DrawFn,
    *,
    tools: Sequence[str] = (),
    percent: int = 25,
    most: int = 8,
    most_tokens: int = 400,
    priced: bool = False,
) -> Limits:
    """Draw hard budgets; each is set in so many of a hundred cases, and small where it is set.

    The cost is limited only if the program is `priced`.
    """
    is_set = flags(percent=percent)

    def maybe(highest: int) -> int | None:
        return draw(st.integers(0, highest)) if draw(is_set) else None

    limited = [name for name in tools[:2] if draw(is_set)]
    return Limits(
        steps=maybe(most),
        tokens=maybe(most_tokens),
        tool_calls=maybe(most),
        calls_of=tuple((name, draw(st.integers(0, 3))) for name in limited),
        wrap_up_tokens=maybe(40),
        cost=maybe(most_tokens) if priced else None,
    )


_PRICES = (
    Price(input=1_000_000, output=2_000_000),
    Price(input=0, output=0),
    Price(input=400_000, output=0, cache_write=3_000_000),
    Price(input=0, output=3_000_001, cache_read=1, reasoning=5_000_000),
)


def prices() -> SearchStrategy[Price]:
    """Draw what tokens cost: something, or nothing; about as many micro-units as tokens."""
    return st.sampled_from(_PRICES)


def retry_policies(*, max_retries: int = 2) -> SearchStrategy[RetryPolicy]:
    """Draw when failed calls are made again."""
    return st.sampled_from(
        [
            RetryPolicy(
                max_retries=retries, initial_delay=delay, jitter=jitter, max_retry_after=longest
            )
            for retries in range(max_retries + 1)
            for delay in (2.0, 0.0)
            for jitter in (0.25, 0.0, 1.0)
            for longest in (60.0, 0.0)
        ]
    )


def _number_output(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText(text)) if text.isdecimal() else Failure(NoOutput("no number", text))


def _arguments_output(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText(text))


OUTPUT_TOOL = "give"


def outputs() -> SearchStrategy[OutputSpec]:
    """Draw what the final answer has to be: any text, or rarely a number.

    Some need validators, some are asked for again, and some are given by the tool `give`.
    """
    return weighted(
        (8, TEXT_OUTPUT),
        (1, OutputSpec("number", _number_output)),
        (1, OutputSpec("number", _number_output, binds=True, retries=2)),
        (1, OutputSpec("text", TEXT_OUTPUT.check, binds=True, retries=1)),
        (2, OutputSpec("arguments", _arguments_output, binds=True, retries=1, tool=OUTPUT_TOOL)),
    )


def output_tool(output: OutputSpec) -> dict[str, ToolSpec]:
    """The tool by which an output is given, if it is given by one."""
    if output.tool is None:
        return {}
    definition = ToolDefinition(output.tool, "Give the output.", _SCHEMA)
    spec = ToolSpec(
        definition=definition, check=_check, executes=False, binds=output.binds, is_output=True
    )
    return {output.tool: spec}


# --- stop conditions --------------------------------------------------------------------------


def counting_conditions(
    *, tools: Sequence[str] = TOOL_NAMES, most: int = 6
) -> SearchStrategy[Condition]:
    """Draw shipped conditions that are monotone."""
    names = list(tools) or ["look"]
    return st.one_of(
        st.just(never),
        st.integers(1, most).map(is_step_count),
        st.just(always),
        st.integers(0, 300).map(token_budget),
        st.integers(0, 600).map(cost_budget),
        st.integers(0, 8).map(lambda instant: deadline(at=instant)),
        st.integers(0, 8).map(lambda instant: deadline(after=instant / 1e9)),
        st.integers(0, most).map(tool_call_budget),
        st.builds(tool_call_budget, st.integers(0, most), tool=st.sampled_from(names)),
        st.sampled_from(names).map(has_tool_call),
        st.just(is_loop_finished()),
    )


def stop_conditions(
    *, tools: Sequence[str] = TOOL_NAMES, most: int = 6, max_leaves: int = 4
) -> SearchStrategy[Condition]:
    """Draw pure conditions: shipped ones, own ones, and what can be composed of them.

    Those beside the counting ones are not monotone.
    """
    return _stop_conditions(tuple(tools), most, max_leaves)


@cache
def _stop_conditions(
    tools: tuple[str, ...], most: int, max_leaves: int
) -> SearchStrategy[Condition]:
    own = st.sampled_from(
        [
            stop_if(lambda progress: len(progress.steps) % 2 == 1, "odd"),
            stop_if(lambda progress: bool(progress.last.tool_errors), "an error"),
            stop_if(lambda progress: len(progress.last.tool_calls) > 1, "parallel"),
            stalled(2),
            stalled(3),
            text_matches("be it|7"),
        ]
    )

    def grown(inner: SearchStrategy[Condition]) -> SearchStrategy[Condition]:
        several = st.lists(inner, max_size=3)
        return st.one_of(
            several.map(lambda members: any_of(*members)),
            several.map(lambda members: all_of(*members)),
            inner.map(negate),
        )

    return st.recursive(
        counting_conditions(tools=tools, most=most) | own, grown, max_leaves=max_leaves
    )


class _SilentError(Exception):
    """An exception whose text cannot be had."""

    @override
    def __str__(self) -> str:
        raise RuntimeError


def _raises(progress: Progress) -> Stop | None:
    raise _SilentError


def _lies(progress: Progress) -> Stop | None:
    return json.loads("true")  # type: ignore[no-any-return]


def broken_conditions() -> SearchStrategy[StopCondition]:
    """Draw conditions that raise, or answer something that is neither a `Stop` nor `None`."""
    return st.sampled_from([_raises, _lies])


# --- programs ---------------------------------------------------------------------------------


def tool_choices(*, tools: Sequence[str] = TOOL_NAMES) -> SearchStrategy[ToolChoice]:
    """Draw what the model is told about calling tools; mostly that it may."""
    often: list[ToolChoice] = ["auto" for _ in range(40)]
    rarely: list[ToolChoice] = ["none", "required", NamedTool(tools[0])] if tools else ["none"]
    return st.sampled_from(often + rarely)


@st.composite
def programs(
    draw: DrawFn,
    *,
    min_tools: int = 0,
    max_tools: int = 4,
    limited: int = 25,
    breaks: int = 2,
    hooks: int = 25,
    asking: int = 50,
    priced: int = 25,
    granting: int = 10,
) -> Program:
    """Draw programs; all arguments but the numbers of tools are percentages.

    `limited` says how often each limit is set, `breaks` how often the stop condition is one that
    fails, `hooks` how often each hook that the loop has to ask exists, `asking` how many tools
    need a policy, a person or a client, `priced` how often all models have prices, `granting` how
    many tools begin runs of their own.
    """
    names = TOOL_NAMES[: draw(st.integers(min_tools, max_tools))]
    tools = {name: draw(tool_specs(name=name, asking=asking)) for name in names}
    for name, spec in tools.items():
        if draw(flags(percent=granting)):
            tools[name] = evolve(spec, grant=draw(limits(percent=50)))
    output = draw(outputs())
    if draw(flags(percent=12)) and names:
        output = OutputSpec("result", _arguments_output, retries=1, result_of=names[0])
    tools |= output_tool(output)
    if draw(flags(percent=20)) and names:
        tools[names[-1]] = evolve(tools[names[-1]], defer_loading=True)
        tools[SEARCH_NAME] = search_spec(SEARCH_NAME, "Find tools.", draw(st.integers(1, 2)))
    stop_when: StopCondition = is_step_count(20)
    if draw(flags(percent=25)):
        stop_when = draw(stop_conditions(tools=names))
    if draw(flags(percent=breaks)):
        stop_when = draw(broken_conditions())
    is_priced = draw(flags(percent=priced))
    count = draw(st.integers(1, 3))
    searches = draw(st.sampled_from([(), (_SLOW_SEARCH,), (_SEARCH,)]))
    tool_choice = draw(tool_choices(tools=[n for n in names if not tools[n].defer_loading]))
    active: tuple[str, ...] | None = None
    if tool_choice == "auto" and draw(flags(percent=10)):
        active = draw(st.sampled_from([(), names[:1], names[1:], names]))
    return Program(
        models=_MODELS[:count],
        step_models=_MODELS[count:] if draw(flags(percent=20)) else (),
        tools=tools,
        provider_tools={tool.name: tool for tool in searches},
        instructions=draw(st.sampled_from(["", "Be brief."])),
        settings=CallSettings(
            max_output_tokens=draw(st.sampled_from([None, None, None, None, 1, 20, 60]))
        ),
        tool_choice=tool_choice,
        active_tools=active,
        tool_order=names[:1] if draw(flags(percent=10)) else None,
        output=output,
        stop_when=stop_when,
        limits=draw(limits(tools=names, percent=limited, priced=is_priced)),
        prices={model: draw(prices()) for model in _MODELS} if is_priced else {},
        retry=draw(retry_policies()),
        prepares=draw(flags(percent=hooks)),
        repairs=draw(flags(percent=2 * hooks)),
        checks_stop=draw(flags(percent=hooks)),
        tool_approval_secret="s3cret" if draw(flags(percent=15)) else None,
    )


def without_budgets(program: Program) -> Program:
    """The same program without limits of any kind, for laws that compare whole runs."""
    return evolve(program, limits=Limits(), stop_when=never)
