"""Hooks: the user's functions that are asked while a run goes on.

Each is asked by a command and answers by an event, so a replay asks nobody. A hook may be sync
(it then runs in a worker thread) or async. What it may see is a value; what it raises never
reaches the run as an exception: a policy that fails denies, a repair that fails repairs nothing,
a refine function that fails makes the call invalid, and a prepare function or a stop check that
fails ends the run in `Failed(HookFailed)`.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Generic, Never, TypeAlias, TypeVar, final

from attrs import evolve, field, frozen

from stepfold.loop import LoopState, Program, Progress, fault_of, offered_tools
from stepfold.loop.events import StepPlan
from stepfold.ports import BLOCKING
from stepfold.shell._approval import (
    DECISIONS,
    ApprovalContext,
    ApprovalPolicy,
    ApprovalRule,
    Verdict,
)
from stepfold.shell._execute import error_text
from stepfold.shell._step_context import StepContext, step_context
from stepfold.shell._tool import AnyTool
from stepfold.shell._tool_spec import name_of
from stepfold.shell._waiting import Waiting, missed_loop, needs_loop
from stepfold.values import (
    Failure,
    HookFailed,
    JsonObject,
    JsonText,
    Message,
    Outcome,
    Stop,
    Success,
    ToolCall,
    ToolDefinition,
    UsageError,
    without_lone_surrogates,
)

D = TypeVar("D")
D_co = TypeVar("D_co", covariant=True)
D_contra = TypeVar("D_contra", contravariant=True)
C = TypeVar("C")


@final
@frozen(order=False)
class RepairContext(Generic[D_co]):
    """What a repair function may know of a call that cannot be accepted, and why.

    `tools` are those that the model was told of; `messages` the history before its reply.
    """

    deps: D_co
    call: ToolCall
    error: str
    tools: tuple[ToolDefinition, ...]
    messages: tuple[Message, ...]


@final
@frozen(order=False)
class StopContext(Generic[D_co]):
    """What a stop check may know: how far the run has come, as a stop condition sees it."""

    deps: D_co
    progress: Progress


PrepareStep: TypeAlias = Callable[[StepContext[D]], Awaitable[StepPlan | None] | StepPlan | None]
"""Says what a step shall be like; `None` leaves everything as it is."""

RepairToolCall: TypeAlias = Callable[[RepairContext[D]], Awaitable[str | None] | str | None]
"""Gives better arguments, as JSON text, or `None`; what it gives is checked again, once."""

RefineToolInput: TypeAlias = Callable[
    [JsonObject], Mapping[str, object] | Awaitable[Mapping[str, object]]
]
"""Gives the arguments that a call shall have in place of the model's."""

StopCheck: TypeAlias = Callable[[StopContext[D]], Awaitable[Stop | None] | Stop | None]
"""Says why to stop, or `None`, by what only the outside world knows."""


@final
@frozen(eq=False)
class Hooks(Generic[D_contra]):
    """The hooks of a program; see `Agent` for what each is for."""

    prepare_step: PrepareStep[D_contra] | None = None
    repair_tool_call: RepairToolCall[D_contra] | None = None
    policy: ApprovalPolicy[D_contra] | None = None
    rules: Mapping[str, ApprovalRule[D_contra]] = field(factory=dict[str, ApprovalRule[D_contra]])
    stop_check: StopCheck[D_contra] | None = None
    refine_tool_input: Mapping[str, RefineToolInput] = field(factory=dict[str, RefineToolInput])

    def rule_of(self, tool: str) -> ApprovalRule[D_contra] | None:
        """What decides on calls of this tool, if anything does."""
        return self.policy if self.policy is not None else self.rules.get(tool)


def missing_hooks(
    program: Program, hooks: Hooks[D], tools: Mapping[str, AnyTool[D, object]]
) -> Iterator[tuple[str, str]]:
    """Each command that a program may issue and nobody would answer, and the hook that would."""
    if (
        program.prepares
        and hooks.prepare_step is None
        and not any(map(is_described, tools.values()))
    ):
        yield "PrepareStep", "prepare_step"
    if program.repairs and hooks.repair_tool_call is None:
        yield "RepairCall", "repair_tool_call"
    if program.checks_stop and hooks.stop_check is None:
        yield "CheckStop", "stop_check"
    for name, spec in program.tools.items():
        if spec.refines and name not in hooks.refine_tool_input:
            yield "BindCall", f"refine_tool_input for {name}"
        if spec.approval == "policy" and hooks.rule_of(name) is None:
            tool = tools.get(name)
            if tool is None or tool.approval_rule is None:
                yield "ResolveApproval", f"a rule for {name}"


def is_described(tool: AnyTool[Never, object]) -> bool:
    """Whether a tool computes its description before each step."""
    return tool.options.describe is not None


async def prepared(
    hooks: Hooks[D],
    deps: D,
    program: Program,
    state: LoopState,
    step: int,
    waiting: Waiting,
    tools: Iterable[AnyTool[D, object]],
) -> StepPlan | HookFailed:
    """Ask the prepare function for the plan of a step, and tools for their descriptions."""
    plan = StepPlan()
    if hooks.prepare_step is not None:
        context = step_context(program, state, step, deps)
        given = await _asked(hooks.prepare_step, context, waiting)
        if given is not None and not isinstance(given, StepPlan):
            return HookFailed("prepare_step", _told(given, "StepPlan or None"))
        plan = plan if given is None else given
    described: dict[str, str] = {}
    for tool in filter(is_described, tools):
        text = await _asked(tool.describe, deps, waiting)
        if not isinstance(text, str):
            return HookFailed(f"description of {tool.name}", _told(text, "text"))
        described[tool.name] = without_lone_surrogates(text)
    if not described:
        return plan
    return evolve(plan, descriptions=described | dict(plan.descriptions))


async def repaired(
    hooks: Hooks[D], deps: D, program: Program, state: LoopState, call: ToolCall, waiting: Waiting
) -> str | None:
    """Ask the repair function for better arguments; `None` if it knows none, or fails."""
    repair = hooks.repair_tool_call
    if repair is None:
        return None
    offered = offered_tools(program, state)
    error = fault_of(program, offered, call) or ""
    tools = tuple(spec.definition for spec in offered.values())
    context = RepairContext(deps, call, error, tools, state.messages)
    given = await _asked(repair, context, waiting)
    return given if isinstance(given, str) else None


async def bound(
    hooks: Hooks[D], call: ToolCall, error_of: Callable[[ToolCall], str | None], waiting: Waiting
) -> tuple[str | None, str | None]:
    """Say what is wrong with a call, or the text of the arguments that it is refined to, if it is.

    `error_of` runs the user's validators: on the model's arguments, and on refined ones.
    """
    error = error_of(call)
    refine = hooks.refine_tool_input.get(call.tool_name)
    if error is not None or refine is None:
        return error, None
    match await _refined(refine, call, waiting):
        case Failure(error):
            return error, None
        case Success(JsonText(text)):
            if text == call.input:
                return None, None
            error = error_of(evolve(call, input=text))
            return (None, text) if error is None else (f"as refined, {error}", None)


async def _refined(
    refine: RefineToolInput, call: ToolCall, waiting: Waiting
) -> Outcome[JsonText, str]:
    """Ask for other arguments; a failure says in words for the model why there are none."""
    value = JsonText(call.input if call.input.strip() else "{}").value
    if not isinstance(value, JsonObject):
        return Failure("the arguments are no object, so they cannot be refined")
    given = await _asked(refine, value, waiting)
    if isinstance(given, Exception):
        return Failure(f"the arguments could not be refined: {error_text(given)}")
    if not isinstance(given, _MAPPING):
        return Failure(f"the arguments could not be refined: {_told(given, 'an object')}")
    try:
        return Success(JsonText.of(given))
    except (TypeError, ValueError) as error:
        return Failure(f"the refined arguments have no JSON form: {error_text(error)}")


async def decided(
    hooks: Hooks[D],
    tools: Mapping[str, AnyTool[D, object]],
    context: ApprovalContext[D],
    waiting: Waiting,
) -> Verdict:
    """Ask whether a call may run; a policy that fails, or says nothing known, denies.

    The first of these decides alone: the policy for all tools, the rule for this one, the tool's
    own `needs_approval`.
    """
    rule = hooks.rule_of(context.call.tool_name)
    if rule is None:
        return await _needed(tools.get(context.call.tool_name), context, waiting)
    given: object = rule
    if not isinstance(rule, str | Verdict):
        given = await _asked(rule, context, waiting)
    if isinstance(given, Verdict):
        return given
    for decision in DECISIONS:
        if given == decision:
            return Verdict(decision)
    return _failed(given, "a decision")


async def _needed(
    tool: AnyTool[D, object] | None, context: ApprovalContext[D], waiting: Waiting
) -> Verdict:
    """Ask the tool itself whether a person must approve a call."""
    needs = None if tool is None else tool.approval_rule
    if needs is None:  # the program has other rules than when the call was made
        return Verdict("denied", reason="no rule decides on this tool")
    given = await _asked(needs, context, waiting)
    if isinstance(given, bool):
        return Verdict("user-approval" if given else "not-applicable")
    return _failed(given, "a bool")


def _failed(given: object, expected: str) -> Verdict:
    """The text of an exception is not kept: the model would see it."""
    named = isinstance(given, Exception)
    told = type(given).__qualname__ if named else f"expected {expected}, got {type(given).__name__}"
    return Verdict("denied", reason=f"the policy failed: {told}")


async def stop_checked(
    hooks: Hooks[D], deps: D, state: LoopState, waiting: Waiting
) -> Stop | HookFailed | None:
    """Ask the stop check whether to stop, and why."""
    check = hooks.stop_check
    if check is None:
        return HookFailed("stop_check", "there is none")
    given = await _asked(check, StopContext(deps, state.progress), waiting)
    if given is None or isinstance(given, Stop):
        return given
    return HookFailed("stop_check", _told(given, "Stop or None"))


_MAPPING: type = Mapping


def _told(given: object, expected: str) -> str:
    """How a hook failed: by which exception, and for our own what it says."""
    if isinstance(given, Exception):
        name = type(given).__qualname__
        match given:
            case UsageError(args=(str(text),)):
                return f"{name}: {without_lone_surrogates(text)}"
            case _:
                return name
    return f"expected {expected}, got {type(given).__name__}"


async def _asked(function: Callable[[C], object], context: C, waiting: Waiting) -> object:
    """Ask a hook, sync or async; what it raises is given, not raised."""

    def ask() -> object:
        return function(context)

    try:
        given = ask() if inspect.iscoroutinefunction(function) else await waiting.in_thread(ask)
        if inspect.isawaitable(given):
            answer: object = await waiting.for_code(given)
            return answer
    except Exception as error:  # the user's code; each hook says what it means
        if BLOCKING.get() and missed_loop(error):
            raise needs_loop(f"the hook {name_of(function)}") from error
        return error
    return given
