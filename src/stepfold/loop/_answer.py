"""The final answer of a run: whether there is one, and whether it is the output that was promised.

Where the program asks for its output by a tool, the loop answers a call of that tool itself: the
arguments of the first acceptable one are the output, and the calls beside it are carried out as
always. Anything else that the model says there is no output, and is sent back like one that does
not fit.
"""

from collections.abc import Sequence

from attrs import evolve

from stepfold.loop._calls import argument_text
from stepfold.loop._program import Program
from stepfold.values import (
    Failure,
    JsonText,
    NoOutput,
    Outcome,
    StepResult,
    Success,
    ToolCall,
    ToolError,
    ToolResult,
)


def is_final(program: Program, result: StepResult, *, is_waiting: bool) -> bool:
    """Whether a step left nothing to answer, or gave the output.

    `is_waiting` tells that the provider still owes results.
    """
    if accepted_call(program, result) is not None:
        return True
    return not is_waiting and all(
        part.provider_executed for part in result.content if isinstance(part, ToolCall)
    )


def accepted_call(program: Program, result: StepResult) -> ToolCall | None:
    """The call of a step that gave the output, if the output is given by a tool."""
    tool = program.output.tool
    if tool is None:
        return None
    accepted = {
        part.tool_call_id
        for part in result.content
        if isinstance(part, ToolResult) and part.tool_name == tool and not part.provider_executed
    }
    calls = (part for part in result.content if isinstance(part, ToolCall))
    return next((call for call in calls if call.tool_call_id in accepted), None)


def answer_in(program: Program, result: StepResult) -> Outcome[JsonText, NoOutput]:
    """The output that a final step gave, before the user's validators, or why it is none."""
    finish = result.finish_reason.unified
    call = accepted_call(program, result)
    if program.output.tool is not None and call is None:
        message = f"expected a call of the tool {program.output.tool}, got text"
        return Failure(NoOutput(message, result.text, finish_reason=finish))
    checked = program.output.check(result.text if call is None else argument_text(call))
    match checked:
        case Success(_):
            return checked
        case Failure(error):
            return Failure(evolve(error, finish_reason=finish))


def refused_call(program: Program, content: Sequence[object]) -> ToolError | None:
    """The first call of the output tool that was refused, in the content of a step."""
    tool = program.output.tool
    if tool is None:
        return None
    errors = (part for part in content if isinstance(part, ToolError))
    return next((error for error in errors if error.tool_name == tool), None)


def feedback(program: Program, error: NoOutput) -> str:
    """What the model is told of an answer that is not the output that was promised."""
    if program.output.tool is not None:
        return (
            f"Your last answer gave no output: {error.message}. "
            f"Call {program.output.tool} with the output."
        )
    return f"Your last answer cannot be used: {error.message}. Give the whole answer again, mended."
