"""What hooks and validators answer to the commands that ask them, as events."""

from typing import Generic, TypeVar, final

from stepfold.loop import Concluding, LoopState, Program
from stepfold.loop.commands import (
    BindCall,
    BindOutput,
    CheckStop,
    PrepareStep,
    RepairCall,
    ResolveApproval,
)
from stepfold.loop.events import (
    ApprovalDecided,
    CallBound,
    CallRepaired,
    Event,
    OutputBound,
    StepPrepared,
    StopChecked,
)
from stepfold.shell._approval import approval_context
from stepfold.shell._execute import call_of
from stepfold.shell._hooks import bound, decided, prepared, repaired, stop_checked
from stepfold.shell._outputs import OutputBinding
from stepfold.shell._runtime import Runtime
from stepfold.shell._waiting import Waiting
from stepfold.values import ToolCall

D = TypeVar("D")

HookCommand = BindCall | BindOutput | CheckStop | PrepareStep | RepairCall | ResolveApproval


@final
class HookCommands(Generic[D]):
    """Carries out the commands that need neither a model nor a tool."""

    def __init__(
        self, program: Program, runtime: Runtime[D], waiting: Waiting, binding: OutputBinding
    ) -> None:
        self._program = program
        self._runtime = runtime
        self._waiting = waiting
        self._binding = binding

    async def answer(self, state: LoopState, command: HookCommand) -> Event | None:
        """Ask who is to be asked; `None` if an end has overtaken the command."""
        match command:
            case BindOutput(at_step):
                return self._bind_output(state, at_step)
            case PrepareStep(at_step):
                return await self._prepare(state, at_step)
            case CheckStop(at_step):
                return await self._check_stop(state, at_step)
            case _:
                call = call_of(state.phase, command.key)
                return None if call is None else await self._about(state, command, call)

    async def _about(
        self, state: LoopState, command: BindCall | RepairCall | ResolveApproval, call: ToolCall
    ) -> Event:
        runtime, waiting, key = self._runtime, self._waiting, command.key
        hooks, deps, clock = runtime.hooks, runtime.deps, runtime.clock
        match command:
            case BindCall():
                error, text = await bound(hooks, call, self._error_of, waiting)
                return CallBound(key, error, clock.now(), input=text)
            case RepairCall():
                mended = await repaired(hooks, deps, self._program, state, call, waiting)
                return CallRepaired(key, mended, clock.now())
            case ResolveApproval():
                context = approval_context(state, deps, call, key.step)
                verdict = await decided(hooks, runtime.tools, context, waiting)
                at, why = clock.now(), verdict.reason
                return ApprovalDecided(key, verdict.decision, at, reason=why)

    def _error_of(self, call: ToolCall) -> str | None:
        return self._binding.error_of_call(call, self._runtime.tools)

    def _bind_output(self, state: LoopState, at_step: int) -> Event | None:
        phase = state.phase
        if not isinstance(phase, Concluding):
            return None
        return OutputBound(at_step, self._binding.error_of(phase.output), self._runtime.clock.now())

    async def _prepare(self, state: LoopState, at_step: int) -> Event:
        runtime, tools = self._runtime, self._runtime.tools.values()
        plan = await prepared(
            runtime.hooks, runtime.deps, self._program, state, at_step, self._waiting, tools
        )
        return StepPrepared(at_step, plan, runtime.clock.now())

    async def _check_stop(self, state: LoopState, at_step: int) -> Event:
        runtime = self._runtime
        stop = await stop_checked(runtime.hooks, runtime.deps, state, self._waiting)
        return StopChecked(at_step, stop, runtime.clock.now())
