"""`Agent`: a program and what it stands for, under one roof. The loop itself is elsewhere."""

from collections.abc import Iterable, Sequence
from typing import cast, final, overload

import anyio
from typing_extensions import TypeForm, TypeVar, Unpack

from stepfold.agent._answers import AnyAnswer, event_of
from stepfold.agent._begun import Begun, begun, child_of, newly_granted
from stepfold.agent._checks import (
    require_answer,
    require_kind,
    require_known,
    require_options,
)
from stepfold.agent._configured import NO_DEPS, Configured
from stepfold.agent._options import AgentOptions, RunOptions, StreamOptions
from stepfold.agent._output import Output, text
from stepfold.agent._run import Run, RunFailed, failure_text
from stepfold.agent._run_stream import RunStream
from stepfold.agent._stages import AsStage
from stepfold.agent._transforms import (
    Parts,
    StreamControl,
    TransformedParts,
    checked_transforms,
)
from stepfold.loop import (
    Done,
    LoopState,
    Program,
    Resting,
    Transition,
)
from stepfold.loop.events import Event, Resumed
from stepfold.ports import BLOCKING, Clock, Journal, LanguageModel
from stepfold.shell import (
    CancelHandle,
    Driver,
    Observer,
    OfferedTool,
    PrepareStep,
    RepairToolCall,
    Runtime,
    StopCheck,
    StreamDriver,
    ToolApproval,
    driven,
    in_event_loop,
)
from stepfold.values import (
    Failed,
    Failure,
    Instant,
    Message,
    Outcome,
    Success,
    UsageError,
)

Deps_contra = TypeVar("Deps_contra", contravariant=True, default=object)
Out_co = TypeVar("Out_co", covariant=True, default=str)
Deps = TypeVar("Deps")
Out = TypeVar("Out")


@final
class Agent(AsStage[Deps_contra, Out_co]):
    """A model with tools, instructions and a promise of an output.

    Nothing here changes once it is made, so an agent may serve any number of runs at once.

    Args:
        model: A model, or its id, such as `openai/gpt-5.4`; ids are looked up at the first run.
        deps_type: What the tools' contexts hold; needed as soon as a tool asks for it.
        tools: Functions made tools by `@tool`, and what `provider_tool` gives.
        output: What the run gives: `text()` by default, or `object_of(…)` and the like.
        prepare_step: Asked before each step: what it shall be like.
        repair_tool_call: Asked for better arguments where a call cannot be accepted.
        tool_approval: A policy for all calls, or rules for those of some tools; where there is
            one, it decides in place of `needs_approval`.
        stop_check: Asked between steps, after `stop_when`: whether to stop by what only the
            outside world knows.
        options: See `AgentOptions`; without `stop_when`, a run stops after 20 steps.

    Raises:
        UsageError: an argument is wrong; the text names it.
    """

    def __init__(
        self,
        *,
        model: str | LanguageModel,
        deps_type: TypeForm[Deps_contra] = object,  # type: ignore[assignment]  # the default of Deps
        tools: Sequence[OfferedTool[Deps_contra]] = (),
        output: Output[Out_co] | None = None,
        prepare_step: PrepareStep[Deps_contra] | None = None,
        repair_tool_call: RepairToolCall[Deps_contra] | None = None,
        tool_approval: ToolApproval[Deps_contra] | None = None,
        stop_check: StopCheck[Deps_contra] | None = None,
        **options: Unpack[AgentOptions],
    ) -> None:
        # without an output, Out is its default: str
        self.output: Output[Out_co] = cast("Output[Out_co]", text()) if output is None else output
        self._configured = Configured(
            model,
            deps_type,
            tools,
            self.output,
            prepare_step,
            repair_tool_call,
            tool_approval,
            stop_check,
            options,
        )
        self.program: Program = self._configured.program
        self.concurrency: int | None = self._configured.concurrency

    # --- running ------------------------------------------------------------------------------

    @overload
    async def generate(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[RunOptions],
    ) -> Run[Out]: ...
    @overload
    async def generate(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Run[Out_co]: ...
    async def generate(
        self: "Agent[Deps, Out]",
        prompt: str | Sequence[Message],
        /,
        *,
        deps: object = NO_DEPS,
        **options: Unpack[RunOptions],
    ) -> Run[Out]:
        """Run until the model has nothing more to do, and give the run.

        A run that was stopped, cancelled or is blocked is given too: look at `run.end`.

        Args:
            prompt: Text, or the messages of a conversation; the sequence itself is not changed.
            deps: What the tools' contexts hold.
            options: See `RunOptions`.

        Raises:
            RunFailed: the run ended in `Failed`; the exception carries the run.
            UsageError: an argument is wrong, or the model's id or key is not known.
        """
        return self._finished(await self._driven(prompt, deps, options))

    @overload
    async def try_generate(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[RunOptions],
    ) -> Outcome[Run[Out], RunFailed]: ...
    @overload
    async def try_generate(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Outcome[Run[Out_co], RunFailed]: ...
    async def try_generate(
        self: "Agent[Deps, Out]",
        prompt: str | Sequence[Message],
        /,
        *,
        deps: object = NO_DEPS,
        **options: Unpack[RunOptions],
    ) -> Outcome[Run[Out], RunFailed]:
        """As `generate`, but gives `Failure(RunFailed)` for a run that ended in `Failed`.

        Raises:
            UsageError: an argument is wrong, or the model's id or key is not known.
        """
        return self._outcome(await self._driven(prompt, deps, options))

    @overload
    def generate_sync(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[RunOptions],
    ) -> Run[Out]: ...
    @overload
    def generate_sync(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Run[Out_co]: ...
    def generate_sync(
        self: "Agent[Deps, Out]",
        prompt: str | Sequence[Message],
        /,
        *,
        deps: object = NO_DEPS,
        **options: Unpack[RunOptions],
    ) -> Run[Out]:
        """As `generate`, in an event loop of its own that ends with it.

        Raises:
            RunFailed: the run ended in `Failed`; the exception carries the run.
            UsageError: an argument is wrong, or this is called within a running event loop.
        """
        if in_event_loop():
            raise UsageError(
                "generate_sync: expected no running event loop, got one: use `await generate(…)`"
            )

        async def main() -> Run[Out]:
            BLOCKING.set(False)  # this may be called by a tool that `drive_sync` runs
            return self._finished(await self._driven(prompt, deps, options))

        return anyio.run(main)

    @overload
    def stream(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[StreamOptions],
    ) -> RunStream[Out]: ...
    @overload
    def stream(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[StreamOptions],
    ) -> RunStream[Out_co]: ...
    def stream(
        self: "Agent[Deps, Out]",
        prompt: str | Sequence[Message],
        /,
        *,
        deps: object = NO_DEPS,
        **options: Unpack[StreamOptions],
    ) -> RunStream[Out]:
        """Run as a stream: `async with agent.stream(…) as stream: async for part in stream: …`.

        A run that fails does not raise here: its last part is `RunEnded`, and `await
        stream.run()` gives the run. The options are those of `StreamOptions`.

        Raises:
            UsageError: an argument is wrong, or the model's id or key is not known.
        """
        transforms = checked_transforms(options.get("transform", ()))
        given = self._begin(prompt, deps, options, StreamOptions.__annotations__)
        cancel = given.cancel
        if transforms and cancel is None:
            cancel = CancelHandle()  # transforms may end the run
        driver = StreamDriver(given.program, given.first, given.runtime, cancel, given.steering)
        parts: Parts = driver
        if cancel is not None and transforms:
            control = StreamControl(cancel)
            parts = TransformedParts(driver, transforms, given.runtime.clock, control)
        return RunStream(driver, parts, self.output, given)

    @overload
    async def answer(
        self: "Agent[object, Out]",
        run: Run[object],
        answers: Sequence[AnyAnswer],
        /,
        **options: Unpack[RunOptions],
    ) -> Run[Out]: ...
    @overload
    async def answer(
        self,
        run: Run[object],
        answers: Sequence[AnyAnswer],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Run[Out_co]: ...
    async def answer(
        self: "Agent[Deps, Out]",
        run: Run[object],
        answers: Sequence[AnyAnswer],
        /,
        *,
        deps: object = NO_DEPS,
        **options: Unpack[RunOptions],
    ) -> Run[Out]:
        """Take a blocked run up again with answers to what it asks.

        Open approvals are answered by `approve(…)` and `deny(…)`, open calls by `tool_output(…)`
        and `tool_error(…)`. The given run is unchanged. While some requests stay open, the run
        stays blocked; what was answered before is answered once. The journal is the one that the
        run was begun with, if it had one. With a `parent`, what it spends from now on is that tool
        call's, and within its grant.

        Raises:
            RunFailed: the run ended in `Failed`; the exception carries the run.
            UsageError: an argument is wrong: an answer to a call that the run never made, or a
                value that does not fit what its tool was declared to return. Nothing has happened
                to the run then.
        """
        require_kind("run", run, Run)
        require_known(options)
        for name in ("run_id", "seed", "runtime_context"):
            if name in options:
                raise UsageError(f"answer: expected no {name}: the run has one already")
        cancel = options.get("cancel")
        steering = options.get("steering")
        require_options(cancel, steering, None, None)
        runtime = self._configured.runtime(deps, options)
        at = runtime.clock.now()
        events = self.events_of(run.state, answers, at=at)
        child = child_of(options.get("parent"), self.program, run.state)
        granted = newly_granted(child, run.state)
        if granted is not None:
            events = (Resumed(run.state.identity.resumed + 1, at, granted), *events)
        state = Transition(run.state)
        driver = await driven(self.program, state, runtime, cancel, steering, events, child=child)
        return self._finished(driver)

    # --- driving by hand ----------------------------------------------------------------------

    @overload
    def runtime(
        self: "Agent[object, Out]",
        *,
        clock: Clock | None = None,
        journal: Journal | None = None,
        observers: Sequence[Observer] = (),
    ) -> Runtime[object]: ...
    @overload
    def runtime(
        self,
        *,
        deps: Deps_contra,
        clock: Clock | None = None,
        journal: Journal | None = None,
        observers: Sequence[Observer] = (),
    ) -> Runtime[Deps_contra]: ...
    def runtime(
        self: "Agent[Deps, Out]",
        *,
        deps: object = NO_DEPS,
        clock: Clock | None = None,
        journal: Journal | None = None,
        observers: Sequence[Observer] = (),
    ) -> Runtime[Deps]:
        """Give what the names in `program` stand for here: `drive` and `drive_sync` take it.

        Raises:
            UsageError: deps are missing or wrong, or the model's id or key is not known.
        """
        return self._configured.runtime(
            deps, {"clock": clock, "journal": journal, "observers": observers}
        )

    def events_of(
        self, state: LoopState, answers: Sequence[AnyAnswer], *, at: Instant
    ) -> tuple[Event, ...]:
        """Give what answers are to the loop, for who steps by hand or has an engine that does.

        `at` is when they were given, in nanoseconds.

        Raises:
            UsageError: as `answer` does; an answer is to a call that the run never made, or has a
                value that does not fit what its tool was declared to return.
        """
        for answer in answers:
            require_answer(answer)
        return tuple(event_of(answer, state, self._configured.table, at) for answer in answers)

    def run_of(self, state: LoopState) -> Run[Out_co]:
        """Give the run that a state is of, typed by the output of this agent.

        Raises:
            UsageError: the run is still going on, or its output does not fit that of this agent.
        """
        require_kind("state", state, LoopState)
        if not isinstance(state.phase, Done | Resting):
            raise UsageError(
                "run_of: expected the state of a run at rest or at its end, got one in "
                f"{type(state.phase).__name__}: `drive` it on first"
            )
        run = Run(state, self.output)
        if isinstance(state.phase, Done) and state.phase.output is not None:
            match run.output:
                case Success():
                    pass
                case Failure(error):
                    raise UsageError(
                        f"run_of: expected an output that fits {self.output.spec.name}, got "
                        f"another: {error.message}"
                    )
        return run

    # --- what they share ----------------------------------------------------------------------

    async def _driven(
        self, prompt: str | Sequence[Message], deps: object, options: RunOptions
    ) -> Driver[Deps_contra]:
        given = self._begin(prompt, deps, options)
        journal = given.runtime.journal
        if journal is not None:
            await journal.begin(given.header)
        first, runtime, child = given.first, given.runtime, given.child
        return await driven(
            given.program, first, runtime, given.cancel, given.steering, child=child
        )

    def _begin(
        self,
        prompt: str | Sequence[Message],
        deps: object,
        options: RunOptions,
        known: Iterable[str] = RunOptions.__annotations__,
    ) -> Begun[Deps_contra]:
        require_known(options, known)
        runtime = self._configured.runtime(deps, options)
        return begun(self.program, prompt, runtime, options)

    def _outcome(self, driver: Driver[Deps_contra]) -> Outcome[Run[Out_co], RunFailed]:
        run = Run(driver.state, self.output, driver.outputs)
        end = run.end
        if not isinstance(end, Failed):
            return Success(run)
        failed = RunFailed(run, failure_text(end.error), end.error)
        failed.__cause__ = driver.cause
        return Failure(failed)

    def _finished(self, driver: Driver[Deps_contra]) -> Run[Out_co]:
        match self._outcome(driver):
            case Success(run):
                return run
            case Failure(failed):
                raise failed
