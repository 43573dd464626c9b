"""What the model is told of in a step: which tools there are, and whether it has to call one."""

from collections.abc import Mapping

from stepfold.loop._order import offered
from stepfold.loop._program import Program, ToolSpec
from stepfold.loop._state import Calling, LoopState, Toolbox, Working
from stepfold.loop.events import StepPlan
from stepfold.values import NamedTool, ProviderTool, ToolChoice


def visible_tools(
    program: Program, toolbox: Toolbox, plan: StepPlan | None
) -> Mapping[str, ToolSpec]:
    """The tools that the model is told of in a step, in their order, but for the provider's own."""
    tools = program.offered
    if plan is not None and _is_other_offer(plan):
        tools = program.offer(*_offer(program, plan))
    if not program.defers_loading:
        return tools
    found = toolbox.found
    return {name: tool for name, tool in tools.items() if not tool.defer_loading or name in found}


def visible_provider_tools(program: Program, plan: StepPlan | None) -> tuple[ProviderTool, ...]:
    """The provider's own tools that the model is told of in a step, in their order."""
    if plan is None or not _is_other_offer(plan):
        return tuple(program.offered_provider_tools.values())
    return tuple(offered(program.provider_tools, *_offer(program, plan)).values())


def _is_other_offer(plan: StepPlan) -> bool:
    return plan.active_tools is not None or plan.tool_order is not None


def _offer(
    program: Program, plan: StepPlan
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    active, order = plan.active_tools, plan.tool_order
    return (
        program.active_tools if active is None else active,
        program.tool_order if order is None else order,
    )


def visible_names(program: Program, toolbox: Toolbox, plan: StepPlan | None) -> tuple[str, ...]:
    """The names of all tools that the model is told of in a step."""
    own = (tool.name for tool in visible_provider_tools(program, plan))
    return (*visible_tools(program, toolbox, plan), *own)


def offered_tools(program: Program, state: LoopState) -> Mapping[str, ToolSpec]:
    """The tools that may be called in the step whose calls are at work.

    A call from the history may be of any tool.
    """
    phase = state.phase
    replied = phase.replied if isinstance(phase, Working) else None
    if replied is None:
        return program.tools
    return visible_tools(program, state.toolbox, replied.plan)


def tool_choice_of(program: Program, calling: Calling) -> ToolChoice:
    """The choice that holds for a call; the last answer of a wrap-up allows no tools.

    But the one by which the output is given.
    """
    if calling.wrap is not None:
        return "none" if program.output.tool is None else NamedTool(program.output.tool)
    if calling.plan is not None and calling.plan.tool_choice is not None:
        return calling.plan.tool_choice
    return program.tool_choice
