"""Plans: what a prepare function wants of a step, taken or refused.

What is named in a plan has to be there, and what it puts into the state has to be good: a plan that
is not ends the run, since nothing better is known of what was meant.
"""

from attrs import evolve

from stepfold.loop._close import call, finish
from stepfold.loop._draft import Draft
from stepfold.loop._offer import visible_names
from stepfold.loop._plan import StepPlan, object_fault
from stepfold.loop._program import Program
from stepfold.loop._prompt import unpaired
from stepfold.loop._stale import refuse_unissued_step
from stepfold.loop._state import Preparing, Toolbox
from stepfold.loop.events import StepPrepared
from stepfold.values import Failed, HookFailed, NamedTool, UnpairedPrompt


def on_prepared(program: Program, out: Draft, event: StepPrepared) -> None:
    """Keep what carries forward, and call the model as the plan wants it."""
    phase, plan = out.phase, event.plan
    if not isinstance(phase, Preparing) or phase.step != event.step:
        refuse_unissued_step(out, event.step)
        return
    out.at(event.at)
    if isinstance(plan, HookFailed):
        finish(out, Failed(plan))
        return
    fault = _unknown_in(program, out.toolbox, plan) or _unfit_in(program, plan)
    if fault is not None:
        finish(out, Failed(HookFailed("prepare_step", fault)))
        return
    open_calls = None if plan.messages is None else unpaired(plan.messages)
    if open_calls is not None:
        finish(out, Failed(UnpairedPrompt(open_calls)))
        return
    _carry_forward(out, plan)
    call(program, out, phase.step, phase.since, plan)


def _carry_forward(out: Draft, plan: StepPlan) -> None:
    old = out.transcript
    if plan.instructions is not None:
        out.transcript = old = evolve(old, instructions=plan.instructions)
    if plan.messages is not None:
        out.transcript = old = evolve(old, base=plan.messages, base_from=len(old.messages))
    if plan.runtime_context is not None:
        out.transcript = evolve(old, runtime_context=plan.runtime_context)


def _unknown_in(program: Program, toolbox: Toolbox, plan: StepPlan) -> str | None:
    """The first name in a plan that stands for nothing, or for a tool that the plan hides."""
    if plan.model is not None and plan.model not in program.every_model:
        return f"UnknownModel: {plan.model!r:.100}"
    described = (name for name, _ in plan.descriptions)
    for name in (*(plan.active_tools or ()), *(plan.tool_order or ()), *described):
        if name not in program.tool_names:
            return f"UnknownTool: {name!r:.100}"
    match plan.tool_choice:
        case NamedTool(name) if name not in visible_names(program, toolbox, plan):
            return f"UnknownTool: {name!r:.100}"
        case _:
            return None


def _unfit_in(program: Program, plan: StepPlan) -> str | None:
    """What in a plan has to be a JSON object and is none."""
    for name, document in (
        ("provider_options", plan.provider_options),
        ("runtime_context", plan.runtime_context),
    ):
        fault = None if document is None else object_fault(document, program.bounds)
        if fault is not None:
            return f"UsageError: StepPlan.{name}: {fault}"
    return None
