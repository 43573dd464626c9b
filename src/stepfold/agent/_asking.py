"""Asks an agent within a pipeline, and takes it up again from a journal."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, cast, final

from attrs import field, frozen
from typing_extensions import Unpack

from stepfold.agent._answers import AnyAnswer, event_of
from stepfold.agent._begun import newly_granted
from stepfold.agent._checks import require_answer
from stepfold.agent._options import Prompt, RunOptions, StreamOptions
from stepfold.agent._output import Output
from stepfold.agent._run import Run, RunFailed, failure_text
from stepfold.agent._run_stream import RunStream
from stepfold.loop import (
    Diverged,
    Done,
    JournalEntry,
    LoopState,
    Program,
    Resting,
    command_ids,
    open_requests,
    step,
)
from stepfold.loop.events import Resumed
from stepfold.pipeline import Kept, Rested, StageContext
from stepfold.pipeline.notes import AgentSaid, AgentTold, Tell
from stepfold.ports import Clock, Journal, write_down
from stepfold.shell import AnyTool, Observation, Observer, Runtime, driven
from stepfold.values import (
    Blocked,
    Failed,
    Failure,
    JsonText,
    Outcome,
    Success,
    UsageError,
)


class Asked(Protocol):
    """What an agent is to its stages."""

    @property
    def program(self) -> Program:
        """Its program."""
        ...

    @property
    def output(self) -> Output[object]:
        """What its runs give."""
        ...

    def try_generate(
        self, prompt: Prompt, /, *, deps: object, **options: Unpack[RunOptions]
    ) -> Awaitable[Outcome[Run[object], RunFailed]]:
        """Run it."""
        ...

    def stream(
        self, prompt: Prompt, /, *, deps: object, **options: Unpack[StreamOptions]
    ) -> RunStream[object]:
        """Run it as a stream."""
        ...

    def answer(
        self,
        run: Run[object],
        answers: Sequence[AnyAnswer],
        /,
        *,
        deps: object,
        **options: Unpack[RunOptions],
    ) -> Awaitable[Run[object]]:
        """Let a blocked run go on."""
        ...

    def runtime(
        self,
        *,
        deps: object,
        clock: Clock | None,
        journal: Journal | None,
        observers: Sequence[Observer],
    ) -> Runtime[object]:
        """What its names stand for."""
        ...


@final
@frozen(order=False)
class Asking:
    """Asks an agent; a value, so that stages can be compared."""

    agent: Asked
    prompt: Callable[[object], Prompt]
    deps: object = field(eq=id)

    async def __call__(self, context: StageContext) -> Outcome[object, RunFailed] | Rested:
        """Run the agent within a pipeline, or take it up again where a journal left it."""
        kept = context.kept
        options = RunOptions(clock=context.clock, parent=context, journal=kept)
        if context.tell is not None:
            options["observers"] = [_Telling(context)]
        if kept is None or kept.state is None:
            options["run_id"] = context.run_id
            prompt = self.prompt(context.given)
            if context.parts and context.tell is not None:
                run = await self._streamed(prompt, context, context.tell, options)
                return self._given_by(run, rests=kept is not None)
            match await self.agent.try_generate(prompt, deps=self.deps, **options):
                case Success(run):
                    return self._given_by(run, rests=kept is not None)
                case Failure(failed):
                    return Failure(failed)
        state = kept.state
        if isinstance(state.phase, Resting) and kept.answers:
            answers = cast("Sequence[AnyAnswer]", kept.answers)  # `check` has seen them
            kept.answers = ()
            try:
                run = await self.agent.answer(
                    self._run_of(state), answers, deps=self.deps, **options
                )
            except RunFailed as failed:
                return Failure(failed)
            return self._given_by(run, rests=True)
        if not isinstance(state.phase, Done | Resting):
            state = await self._carried_on(state, context, options)
        return self._given_by(self._run_of(state), rests=True)

    async def _streamed(
        self, prompt: Prompt, context: StageContext, tell: Tell, options: RunOptions
    ) -> Run[object]:
        """Run the agent as a stream, and tell its parts."""
        stream = self.agent.stream(prompt, deps=self.deps, **cast("StreamOptions", options))
        async with stream:
            async for part in stream:
                tell(AgentSaid(context.key, context.stage, part))
        return await stream.run()

    async def _carried_on(
        self, state: LoopState, context: StageContext, options: RunOptions
    ) -> LoopState:
        """Take up a run that was in flight when its process ended."""
        kept, observers = context.kept, options.get("observers", ())
        runtime = self.agent.runtime(
            deps=self.deps, clock=context.clock, journal=kept, observers=observers
        )
        program = self.agent.program
        child = context.child(program, state)
        number, now = state.identity.resumed + 1, context.clock.now()
        event = Resumed(number, now, newly_granted(child, state))
        first = step(program, state, event)
        if kept is not None:
            await write_down(kept, JournalEntry(event, command_ids(first)), first)
        driver = await driven(program, first, runtime, None, child=child)
        return driver.state

    def _run_of(self, state: LoopState) -> Run[object]:
        return Run(state, self.agent.output)

    def _given_by(self, run: Run[object], *, rests: bool) -> Outcome[object, RunFailed] | Rested:
        """What a run comes to; a blocked one is a failure where nobody could take it up."""
        end = run.end
        if rests and isinstance(end, Blocked):
            return Rested(end.open)
        if isinstance(end, Failed):
            return Failure(RunFailed(run, failure_text(end.error), end.error))
        try:
            return Success(run.unwrap())
        except RunFailed as failed:
            return Failure(failed)

    # --- in a journal -------------------------------------------------------------------------

    def reached(self, kept: Kept, /) -> Outcome[LoopState, Diverged]:
        """The state that its run had reached."""
        return kept.folded(self.agent.program)

    def value_of(self, output: JsonText, /) -> Outcome[object, str]:
        """The output of a completed run."""
        match self.agent.output.decode(output):
            case Success(value):
                return Success(value)
            case Failure(error):
                return Failure(error.message)

    def error_of(self, state: LoopState, /) -> RunFailed:
        """Why a run gave no output."""
        match self._given_by(self._run_of(state), rests=False):
            case Failure(failed):
                return failed
            case _:
                return RunFailed(self._run_of(state), "the run has an output, and failed")

    def check(self, state: LoopState, answers: Sequence[object], /) -> None:
        """Refuse what answers no request of the run.

        Raises:
            UsageError: it does not.
        """
        tools = cast("Mapping[str, AnyTool[object, object]]", self._tools())
        for answer in answers:
            require_answer(answer)
            given = cast("AnyAnswer", answer)
            if given.request not in open_requests(state):
                raise UsageError(
                    f"answers: expected an answer to a request of the run {state.identity.run!r}, "
                    f"got one to {given.request.call.tool_call_id!r}: take the request of the "
                    "AgentAsks that is answered"
                )
            event_of(given, state, tools, state.now)

    def _tools(self) -> Mapping[str, object]:
        runtime = self.agent.runtime(deps=self.deps, clock=None, journal=None, observers=())
        return runtime.tools


@final
@frozen(order=False, eq=False)
class _Telling:
    """Tells those who watch a pipeline what an agent within it does."""

    context: StageContext

    def __call__(self, seen: Observation) -> None:
        """Tell one thing."""
        context = self.context
        if context.tell is not None:
            context.tell(AgentTold(context.key, context.stage, seen))
