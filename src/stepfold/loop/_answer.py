"""The final answer of a run: whether there is one, and whether it is the output that was promised.

Where the program asks for its output by a tool, the loop answers a call of that tool itself: the
arguments of the first acceptable one are the output, and the calls beside it are carried out as
always. Anything else that the model says there is no output, and is sent back like one that does
not fit.

Where the output is the result of a tool, that tool runs as any other, with the calls beside it, and
what a call of it has given ends the run. A call that is refused, denied or fails is answered and
the model goes on. Text is no output there either.
"""

from collections.abc import Sequence
from itertools import chain

from attrs import evolve

from stepfold.loop._calls import argument_text
from stepfold.loop._program import Program
from stepfold.loop._provider_approval import asked_in
from stepfold.loop._state import Transcript
from stepfold.values import (
    ContentOutput,
    Failure,
    JsonOutput,
    JsonText,
    NoOutput,
    Outcome,
    StepResult,
    Success,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolResult,
)


def is_final(program: Program, said: Transcript, *, is_waiting: bool) -> bool:
    """Whether the last step left nothing to answer, or gave the output.

    `is_waiting` tells that the provider still owes results; it also has a right to an answer.
    """
    if given_result(program, said) is not None:
        return True
    if not said.steps:
        return False
    last = said.steps[-1]
    if accepted_call(program, last) is not None:
        return True
    if is_waiting or asked_in(last.content):
        return False
    return all(part.provider_executed for part in last.content if isinstance(part, ToolCall))


def given_result(program: Program, said: Transcript) -> ToolResult | None:
    """The result that is the output, if that is given by what a tool gives.

    It is the first of the last step, in call order, or of the calls that were answered after it.
    """
    tool = program.output.result_of
    if tool is None:
        return None
    late = (one.content for one in said.late if isinstance(one, ToolMessage))
    content = said.steps[-1].content if said.steps else ()
    results = (part for part in chain(content, *late) if isinstance(part, ToolResult))
    return next((one for one in results if one.tool_name == tool and _has_succeeded(one)), None)


def _has_succeeded(result: ToolResult) -> bool:
    return not result.provider_executed and isinstance(
        result.output, TextOutput | JsonOutput | ContentOutput
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


def answer_in(program: Program, said: Transcript) -> Outcome[JsonText, NoOutput]:
    """The output that was given at the end, before the user's validators, or why there is none."""
    given = given_result(program, said)
    if given is not None:
        return program.output.check(given.json.text)
    result = said.steps[-1]
    finish = result.finish_reason.unified
    call = accepted_call(program, result)
    needed = program.output.needs_call
    if needed is not None and call is None:
        message = f"expected a call of the tool {needed}, got text"
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
    if program.output.result_of is not None:
        return (
            f"Your last answer is not what was asked for: {error.message}. "
            f"Call {program.output.result_of}: what it gives ends the conversation."
        )
    return f"Your last answer cannot be used: {error.message}. Give the whole answer again, mended."
