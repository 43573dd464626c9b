from collections.abc import Iterator
from typing import final
from attrs import frozen
from stepfold.loop import LoopState, Program
from stepfold.loop.events import ApprovalDecision, Event, StepPlan, ToolOutcome
from stepfold.values import (
    FinishReason,
    HookFailed,
    ModelErrorReason,
    ModelReply,
    Stop,
    Text,
    Usage,
)

FINAL_REPLY = ModelReply((Text("That is all."),), FinishReason("stop"), Usage(10, 5))
_FAILS_OR_NOT: tuple[ToolOutcome, ...] = ...

@final
@frozen(order=False, kw_only=True)
class Alphabet:
    replies: tuple[tuple[ModelReply, ...], ...] = ((FINAL_REPLY,),)
    failures: tuple[ModelErrorReason, ...] = ()
    plans: tuple[StepPlan | HookFailed, ...] = (StepPlan(),)
    repairs: tuple[str | None, ...] = (None,)
    bindings: tuple[str | None, ...] = (None,)
    decisions: tuple[ApprovalDecision, ...] = ("approved", "denied", "user-approval")
    outcomes: tuple[ToolOutcome, ...] = _FAILS_OR_NOT
    answers: tuple[bool, ...] = (True, False)
    stops: tuple[Stop | HookFailed | None, ...] = (None,)
    outputs: tuple[str | None, ...] = (None,)
    cancels: bool = True
    cancels_after_step: bool = False
    times_out: bool = False
    crashes: int = 0
    steers: int = 0

    def __attrs_post_init__(self) -> None: ...
    def events(self, program: Program, state: LoopState) -> Iterator[Event]: ...

def reply_with(*calls: tuple[str, str], step: int = 0) -> ModelReply: ...
