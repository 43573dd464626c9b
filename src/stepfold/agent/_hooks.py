"""The hooks that an agent is given, checked when they are given."""

from collections.abc import Mapping
from typing import TypeVar, get_args

from attrs import evolve
from typing_extensions import TypeIs

from stepfold.loop import ToolSpec
from stepfold.loop.events import ApprovalDecision
from stepfold.shell import Hooks, PrepareStep, RepairToolCall, StopCheck, ToolApproval, Verdict
from stepfold.values import UsageError

D = TypeVar("D")

_DECISIONS: tuple[str, ...] = get_args(ApprovalDecision)


def hooks_of(
    prepare_step: PrepareStep[D] | None,
    repair_tool_call: RepairToolCall[D] | None,
    tool_approval: ToolApproval[D] | None,
    stop_check: StopCheck[D] | None,
    tools: Mapping[str, object],
) -> Hooks[D]:
    """Put the hooks together.

    Raises:
        UsageError: one is no function, or a rule is for no tool or says nothing known.
    """
    _require_function("prepare_step", prepare_step)
    _require_function("repair_tool_call", repair_tool_call)
    _require_function("stop_check", stop_check)
    hooks = Hooks(prepare_step, repair_tool_call, stop_check=stop_check)
    if tool_approval is None:
        return hooks
    if callable(tool_approval):
        return evolve(hooks, policy=tool_approval)
    if not _is_mapping(tool_approval):
        raise UsageError(
            f"tool_approval: expected a policy, or a mapping from tools to rules, got "
            f"{type(tool_approval).__name__}"
        )
    for name, rule in tool_approval.items():
        if name not in tools:
            known = ", ".join(tools) or "none"
            raise UsageError(f"tool_approval: expected names of tools ({known}), got {name!r}")
        decision: object = rule.decision if isinstance(rule, Verdict) else rule
        if not callable(rule) and decision not in _DECISIONS:
            known = ", ".join(map(repr, _DECISIONS))
            raise UsageError(
                f"tool_approval[{name!r}]: expected a policy or one of {known}, got {decision!r}"
            )
    return evolve(hooks, rules=dict(tool_approval))


def _is_mapping(given: object) -> TypeIs[Mapping[str, object]]:
    return isinstance(given, Mapping)


def _require_function(argument: str, given: object) -> None:
    if given is not None and not callable(given):
        raise UsageError(f"{argument}: expected a function, got {type(given).__name__}")


def specs_under(hooks: Hooks[D], specs: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """The tools, those that a rule decides on asking it in place of their own `needs_approval`."""
    return {
        name: spec if hooks.rule_of(name) is None else evolve(spec, approval="policy")
        for name, spec in specs.items()
    }
