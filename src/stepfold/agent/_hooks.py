"""The hooks that an agent is given, checked when they are given."""

from collections.abc import Mapping
from typing import TypeVar, get_args

from attrs import evolve
from typing_extensions import TypeIs

from stepfold.loop import ToolSpec
from stepfold.loop.events import ApprovalDecision
from stepfold.shell import (
    ApprovalPolicy,
    ApprovalRule,
    Hooks,
    PrepareStep,
    RefineToolInput,
    RepairToolCall,
    StopCheck,
    ToolApproval,
    Verdict,
)
from stepfold.values import UsageError

D = TypeVar("D")
T = TypeVar("T")

_DECISIONS: tuple[str, ...] = get_args(ApprovalDecision)


def hooks_of(
    prepare_step: PrepareStep[D] | None,
    repair_tool_call: RepairToolCall[D] | None,
    tool_approval: ToolApproval[D] | None,
    stop_check: StopCheck[D] | None,
    refine_tool_input: Mapping[str, RefineToolInput] | None,
    tools: Mapping[str, object],
) -> Hooks[D]:
    """Put the hooks together.

    Raises:
        UsageError: one is no function, or is for no tool; a rule says nothing known.
    """
    _require_function("prepare_step", prepare_step)
    _require_function("repair_tool_call", repair_tool_call)
    _require_function("stop_check", stop_check)
    policy, rules = _decided_by(tool_approval, tools)
    refining = _by_tool(
        "refine_tool_input", refine_tool_input, "a mapping from tools to functions", tools
    )
    for name, refine in refining.items():
        _require_function(f"refine_tool_input[{name!r}]", refine)
    return Hooks(prepare_step, repair_tool_call, policy, rules, stop_check, refining)


def _decided_by(
    given: ToolApproval[D] | None, tools: Mapping[str, object]
) -> tuple[ApprovalPolicy[D] | None, Mapping[str, ApprovalRule[D]]]:
    if given is None:
        return None, {}
    if callable(given):
        return given, {}
    rules = _by_tool("tool_approval", given, "a policy, or a mapping from tools to rules", tools)
    for name, rule in rules.items():
        decision: object = rule.decision if isinstance(rule, Verdict) else rule
        if not callable(rule) and decision not in _DECISIONS:
            known = ", ".join(map(repr, _DECISIONS))
            raise UsageError(
                f"tool_approval[{name!r}]: expected a policy or one of {known}, got {decision!r}"
            )
    return None, rules


def _by_tool(
    argument: str, given: Mapping[str, T] | None, expected: str, tools: Mapping[str, object]
) -> Mapping[str, T]:
    """What is given for single tools, by their names."""
    if given is None:
        return {}
    if not _is_mapping(given):
        raise UsageError(f"{argument}: expected {expected}, got {type(given).__name__}")
    for name in given:
        if name not in tools:
            known = ", ".join(tools) or "none"
            raise UsageError(f"{argument}: expected names of tools ({known}), got {name!r}")
    return dict(given)


def _is_mapping(given: object) -> TypeIs[Mapping[str, object]]:
    return isinstance(given, Mapping)


def _require_function(argument: str, given: object) -> None:
    if given is not None and not callable(given):
        raise UsageError(f"{argument}: expected a function, got {type(given).__name__}")


def specs_under(hooks: Hooks[D], specs: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """The tools as the hooks have them.

    Those that a rule decides on ask it in place of their own `needs_approval`.
    """
    return {
        name: evolve(
            spec,
            approval=spec.approval if hooks.rule_of(name) is None else "policy",
            refines=name in hooks.refine_tool_input,
        )
        for name, spec in specs.items()
    }
