"""The model request that a state stands for."""

from collections.abc import Mapping

from attrs import evolve

from stepfold.loop._offer import tool_choice_of, visible_provider_tools, visible_tools
from stepfold.loop._program import Program, ToolSpec
from stepfold.loop._settings import provider_options_of, settings_of
from stepfold.loop._state import Calling, LoopState
from stepfold.values import ModelRequest, SystemMessage, ToolDefinition, UsageError


def request_of(program: Program, state: LoopState) -> ModelRequest:
    """Build the request of the model call that is in flight.

    Shares the messages of the state; costs O(1) unless a prepare function replaced the prompt.

    Raises:
        UsageError: no model call is in flight.
    """
    calling = state.phase
    if not isinstance(calling, Calling):
        phase = type(calling).__name__
        msg = f"request_of: expected a state in which a model call is in flight, got {phase}"
        raise UsageError(msg)
    transcript = state.transcript
    plan = calling.plan
    visible = visible_tools(program, state.toolbox, plan)
    if visible is program.offered and (plan is None or not plan.descriptions):
        tools = program.definitions
    else:
        tools = _told(visible, {} if plan is None else dict(plan.descriptions))
    settings = settings_of(program, plan)
    if calling.max_output_tokens != settings.max_output_tokens:
        settings = evolve(settings, max_output_tokens=calling.max_output_tokens)
    instructions = transcript.instructions
    if instructions is None:
        instructions = program.instructions
    if program.output.instructions:
        instructions = "\n\n".join(filter(None, (instructions, program.output.instructions)))
    choice = tool_choice_of(program, calling)
    if choice == "auto" and program.output.needs_call is not None:
        choice = "required"  # that or another; text is no violation, but it gives no output
    messages = state.prompt
    if instructions and program.instructions_options is not None:
        leading = SystemMessage(instructions, provider_options=program.instructions_options)
        messages, instructions = (leading, *messages), ""
    return ModelRequest(
        messages=messages,
        instructions=instructions,
        tools=tools,
        provider_tools=visible_provider_tools(program, plan),
        tool_choice=choice,
        response_format=program.output.format,
        settings=settings,
        headers=program.headers,
        provider_options=provider_options_of(program, plan),
        key=f"{state.identity.run}/{calling.step}/{calling.total}",
    )


def _told(
    tools: Mapping[str, ToolSpec], descriptions: Mapping[str, str]
) -> tuple[ToolDefinition, ...]:
    """Tools as a model is told of them, in the words of a plan where it has some."""
    return tuple(
        evolve(spec.definition, description=descriptions[name])
        if name in descriptions
        else spec.definition
        for name, spec in tools.items()
    )
