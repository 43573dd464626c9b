"""Floor 2: the loop, a pure function. Nothing here knows a clock, a network or a thread.

`begin` makes the first state, `step` takes one event after another. `events`, `commands` and
`notes` hold the words that go in and come out.
"""

from stepfold.loop import commands, events, notes
from stepfold.loop._begin import begin
from stepfold.loop._call_ids import with_call_ids
from stepfold.loop._calls import fault_of
from stepfold.loop._findings import Finding, FindingKind, FindingSeverity, RepairedHistory
from stepfold.loop._fold import ReplyFold, fold_parts, normal_reply, parts_of
from stepfold.loop._granted import Granted, granted_to, limits_of, prices_of
from stepfold.loop._history import inspect_history, repair_history, validate_history
from stepfold.loop._increment import Increment, increment_of, restored
from stepfold.loop._interrupt import CALL_LOST
from stepfold.loop._limits import NO_LIMITS, Limits
from stepfold.loop._offer import offered_tools
from stepfold.loop._pending import open_requests, pending
from stepfold.loop._program import (
    RULES,
    TEXT_OUTPUT,
    Check,
    OutputSpec,
    Program,
    RetryPolicy,
    ToolSpec,
)
from stepfold.loop._prompt import convert_to_model_prompt
from stepfold.loop._prune import Pruning, ToolCallPruning, prune_messages
from stepfold.loop._replay import (
    Diverged,
    JournalEntry,
    JournalHeader,
    command_ids,
    replay,
    replay_from,
    unlike,
)
from stepfold.loop._request import request_of
from stepfold.loop._retry import pause_before_retry, pause_of
from stepfold.loop._search import search_spec
from stepfold.loop._signing import ApprovalSecret
from stepfold.loop._slots import Approval, Slot, SlotStatus
from stepfold.loop._standardise import standardise_prompt
from stepfold.loop._state import (
    EMPTY_TOOLBOX,
    NO_CONTEXT,
    Calling,
    Checking,
    Concluding,
    Done,
    Identity,
    Inbox,
    Ledger,
    LoopState,
    Phase,
    Preparing,
    Replied,
    Resting,
    Toolbox,
    Transcript,
    Transition,
    Waiting,
    Working,
)
from stepfold.loop._step import step
from stepfold.loop._stop import (
    Condition,
    Named,
    Progress,
    StopCondition,
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
    stalled,
    stop_if,
    text_matches,
    token_budget,
    tool_call_budget,
)
from stepfold.loop._timeouts import NO_TIMEOUTS, Timeouts
from stepfold.loop._trim import trim_messages

__all__ = (
    "CALL_LOST",
    "EMPTY_TOOLBOX",
    "NO_CONTEXT",
    "NO_LIMITS",
    "NO_TIMEOUTS",
    "RULES",
    "TEXT_OUTPUT",
    "Approval",
    "ApprovalSecret",
    "Calling",
    "Check",
    "Checking",
    "Concluding",
    "Condition",
    "Diverged",
    "Done",
    "Finding",
    "FindingKind",
    "FindingSeverity",
    "Granted",
    "Identity",
    "Inbox",
    "Increment",
    "JournalEntry",
    "JournalHeader",
    "Ledger",
    "Limits",
    "LoopState",
    "Named",
    "OutputSpec",
    "Phase",
    "Preparing",
    "Program",
    "Progress",
    "Pruning",
    "RepairedHistory",
    "Replied",
    "ReplyFold",
    "Resting",
    "RetryPolicy",
    "Slot",
    "SlotStatus",
    "StopCondition",
    "Timeouts",
    "ToolCallPruning",
    "ToolSpec",
    "Toolbox",
    "Transcript",
    "Transition",
    "Waiting",
    "Working",
    "all_of",
    "always",
    "any_of",
    "begin",
    "command_ids",
    "commands",
    "convert_to_model_prompt",
    "cost_budget",
    "deadline",
    "events",
    "fault_of",
    "fold_parts",
    "granted_to",
    "has_tool_call",
    "increment_of",
    "inspect_history",
    "is_loop_finished",
    "is_step_count",
    "limits_of",
    "negate",
    "never",
    "normal_reply",
    "notes",
    "offered_tools",
    "open_requests",
    "parts_of",
    "pause_before_retry",
    "pause_of",
    "pending",
    "prices_of",
    "prune_messages",
    "repair_history",
    "replay",
    "replay_from",
    "request_of",
    "restored",
    "search_spec",
    "stalled",
    "standardise_prompt",
    "step",
    "stop_if",
    "text_matches",
    "token_budget",
    "tool_call_budget",
    "trim_messages",
    "unlike",
    "validate_history",
    "with_call_ids",
)
