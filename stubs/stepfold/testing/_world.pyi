from typing import final
from attrs import frozen
from stepfold.loop import LoopState, Program
from stepfold.loop.commands import Command
from stepfold.loop.events import (
    ApprovalDecision,
    Event,
    Spending,
    StepPlan,
    ToolOutcome,
    ToolSucceeded,
)
from stepfold.values import HookFailed, ModelErrorReason, ModelReply, OpenRequest, Stop, TextOutput

@final
@frozen(order=False)
class Turn:
    reply: ModelReply
    failures: tuple[ModelErrorReason, ...] = ()

@final
@frozen(order=False, kw_only=True)
class World:
    turns: tuple[Turn, ...] = ()
    plans: tuple[StepPlan | HookFailed, ...] = ()
    repairs: tuple[str | None, ...] = (None,)
    bindings: tuple[str | None, ...] = (None,)
    refinements: tuple[str | None, ...] = (None,)
    decisions: tuple[ApprovalDecision, ...] = ("approved",)
    outcomes: tuple[ToolOutcome, ...] = (ToolSucceeded(TextOutput("done")),)
    answers: tuple[bool | None, ...] = (True,)
    stops: tuple[Stop | HookFailed | None, ...] = (None,)
    outputs: tuple[str | None, ...] = (None,)
    spendings: tuple[Spending | None, ...] = (None,)
    reports_partial: bool = False
    announces: bool = False

    def answer(self, program: Program, state: LoopState, command: Command) -> Event: ...
    def reply_to(self, state: LoopState, request: OpenRequest) -> Event | None: ...
    def partial(self, step: int) -> ModelReply: ...
