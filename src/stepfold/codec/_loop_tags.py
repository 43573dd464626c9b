"""The names in stored data of what goes into the loop, comes out of it, and stays in it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from stepfold import loop
from stepfold.loop import commands, events, notes

_COMMANDS: Final[dict[type, str]] = {
    commands.BindCall: "bind-call",
    commands.BindOutput: "bind-output",
    commands.CallModel: "call-model",
    commands.CheckStop: "check-stop",
    commands.PrepareStep: "prepare-step",
    commands.RepairCall: "repair-call",
    commands.ResolveApproval: "resolve-approval",
    commands.RunTool: "run-tool",
    commands.Wait: "wait",
}
_EVENTS: Final[dict[type, str]] = {
    events.ApprovalAnswered: "approval-answered",
    events.ApprovalDecided: "approval-decided",
    events.CallBound: "call-bound",
    events.CallRepaired: "call-repaired",
    events.CancelRequested: "cancel-requested",
    events.Cancelled: "cancelled",
    events.MessageSteered: "message-steered",
    events.ModelFailed: "model-failed",
    events.ModelReplied: "model-replied",
    events.OutputBound: "output-bound",
    events.Resumed: "resumed",
    events.StepPrepared: "step-prepared",
    events.StopChecked: "stop-checked",
    events.TimedOut: "timed-out",
    events.ToolReturned: "tool-returned",
    events.ToolStarted: "tool-started",
    events.Waited: "waited",
}
_PLANS: Final[dict[type, str]] = {
    events.StepPlan: "plan",
}
_TOOL_OUTCOMES: Final[dict[type, str]] = {
    events.ToolFailed: "failed",
    events.ToolSucceeded: "succeeded",
}
_NOTES: Final[dict[type, str]] = {
    notes.ApprovalRequested: "approval-requested",
    notes.CallOpened: "call-opened",
    notes.CallRejected: "call-rejected",
    notes.CallRequested: "call-requested",
    notes.HistoryRepaired: "history-repaired",
    notes.ModelRetried: "model-retried",
    notes.OutputRejected: "output-rejected",
    notes.RunBlocked: "run-blocked",
    notes.RunEnded: "run-ended",
    notes.SteeringDelivered: "steering-delivered",
    notes.SteeringDropped: "steering-dropped",
    notes.StepFinished: "step-finished",
    notes.StepStarted: "step-started",
    notes.ToolFinished: "tool-finished",
}
_PHASES: Final[dict[type, str]] = {
    loop.Calling: "calling",
    loop.Checking: "checking",
    loop.Concluding: "concluding",
    loop.Done: "done",
    loop.Preparing: "preparing",
    loop.Resting: "resting",
    loop.Waiting: "waiting",
    loop.Working: "working",
}

LOOP_TAGGED: Final[Mapping[type, str]] = MappingProxyType(
    _COMMANDS | _EVENTS | _PLANS | _TOOL_OUTCOMES | _NOTES | _PHASES
)
LOOP_RECORDS: Final[Mapping[type, str]] = MappingProxyType(
    {
        commands.CallKey: "call-key",
        commands.Grant: "grant",
        commands.ModelCallKey: "model-call-key",
        events.Spending: "spending",
        loop.Granted: "granted",
        loop.JournalEntry: "journal-entry",
        loop.JournalHeader: "journal-header",
        loop.Approval: "approval",
        loop.Finding: "finding",
        loop.Identity: "identity",
        loop.Inbox: "inbox",
        loop.Ledger: "ledger",
        loop.Limits: "limits",
        loop.LoopState: "state",
        loop.Replied: "replied",
        loop.Slot: "slot",
        loop.Toolbox: "toolbox",
        loop.Transcript: "transcript",
        loop.Transition: "transition",
    }
)
