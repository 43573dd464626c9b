"""Which strategy draws the values of a type: what hypothesis asks for in `st.from_type`."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias, cast, get_args, get_origin

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import loop
from stepfold import values as v
from stepfold.loop import commands, events
from stepfold.testing._simulation import Schedule, Trace
from stepfold.testing.strategies import _programs as programs
from stepfold.testing.strategies import _runs as runs
from stepfold.testing.strategies import _worlds as worlds
from stepfold.testing.strategies import values as drawn
from stepfold.values import UsageError

_Strategies: TypeAlias = Callable[[], SearchStrategy[object]]


@cache
def _by_type() -> Mapping[object, _Strategies]:
    return {
        # values, whatever their types allow
        v.ApprovalRequest: drawn.approval_requests,
        v.ApprovalResponse: drawn.approval_responses,
        v.AssistantMessage: drawn.assistant_messages,
        v.CallSettings: drawn.call_settings,
        v.ChunkGaps: drawn.chunk_gaps,
        v.Custom: drawn.customs,
        v.File: drawn.files,
        v.FileBytes: drawn.file_bytes,
        v.FileUrl: drawn.file_urls,
        v.FinishReason: drawn.finish_reasons,
        v.HookFailed: drawn.hook_failures,
        v.JsonText: drawn.json_texts,
        v.ModelErrorReason: drawn.model_error_reasons,
        v.ModelReply: drawn.replies,
        v.ModelRequest: drawn.requests,
        v.ModelWarning: drawn.model_warnings,
        v.NoOutput: drawn.no_outputs,
        v.OpenApproval: drawn.open_approvals,
        v.OpenCall: drawn.open_calls,
        v.Performance: drawn.performances,
        v.Price: programs.prices,
        v.ProviderTool: drawn.provider_tools,
        v.Reasoning: drawn.reasonings,
        v.ReasoningFile: drawn.reasoning_files,
        v.ResponseInfo: drawn.response_infos,
        v.StepResult: drawn.step_results,
        v.Stop: drawn.stops,
        v.Text: drawn.texts,
        v.ToolCall: drawn.tool_calls,
        v.ToolDefinition: drawn.tool_definitions,
        v.ToolError: drawn.tool_errors,
        v.ToolMessage: drawn.tool_messages,
        v.ToolResult: drawn.tool_results,
        v.Usage: drawn.usages,
        v.UserMessage: drawn.user_messages,
        # what belongs to the loop
        commands.CallKey: drawn.call_keys,
        commands.Grant: drawn.grants,
        commands.ModelCallKey: drawn.model_call_keys,
        events.MessageSteered: drawn.messages_steered,
        events.Spending: drawn.spendings,
        events.StepPlan: drawn.step_plans,
        loop.Calling: drawn.calls_in_flight,
        loop.Finding: drawn.findings,
        loop.Granted: drawn.granted,
        loop.JournalEntry: drawn.journal_entries,
        loop.JournalHeader: drawn.journal_headers,
        loop.Slot: drawn.slots,
        loop.Transition: drawn.transitions,
        # what a user configures, and what a run comes to
        loop.Condition: programs.stop_conditions,
        loop.Limits: programs.limits,
        loop.LoopState: runs.reached_states,
        loop.OutputSpec: programs.outputs,
        loop.Program: programs.programs,
        loop.Progress: runs.progresses,
        loop.RetryPolicy: programs.retry_policies,
        loop.ToolSpec: programs.tool_specs,
        Schedule: worlds.schedules,
        Trace: runs.traces,
    }


def strategy_for(kind: object) -> SearchStrategy[object]:
    """Draw values of a type of stepfold, or of a type that hypothesis knows of.

    `st.from_type` gives the same, since hypothesis is told of these types by itself. A state is one
    that a run reaches; other values are whatever their types allow.

    Raises:
        UsageError: this is no type.
    """
    origin = get_origin(kind) or kind
    if origin is v.Completed:
        return st.builds(v.Completed[object], _of_first(get_args(kind)))
    found = _by_type().get(origin)
    if found is not None:
        return found()
    if not isinstance(kind, type):
        msg = f"strategy_for: expected a class, such as stepfold.UserMessage, got {kind!r:.200}"
        raise UsageError(msg)
    return st.builds(kind)


def _of_first(arguments: Sequence[object]) -> SearchStrategy[object]:
    """Draw what a generic type holds; JSON where that is not said."""
    if arguments and isinstance(arguments[0], type):
        return st.from_type(cast("type[object]", arguments[0]))
    return drawn.json_texts()
