"""`Runs`: what may be done with a pipeline: it is run, kept, taken up, decided anew, and forked."""

from functools import cached_property
from typing import Generic, Never, cast

import anyio
from typing_extensions import TypeVar, Unpack

from stepfold.loop import Diverged
from stepfold.pipeline._durable import Answers, resume, start
from stepfold.pipeline._execute import PipelineOptions, StartOptions, run_in_memory
from stepfold.pipeline._fork import UNCHANGED, Unchanged, fork, replayed
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._run import PipelineRun
from stepfold.pipeline._state import PipelineState
from stepfold.pipeline._wiring import Wiring, wiring_of
from stepfold.ports import BLOCKING, JournalStore
from stepfold.shell import in_event_loop
from stepfold.values import Outcome, UsageError

A = TypeVar("A")
B = TypeVar("B")
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)


class Runs(Generic[A_contra, B_co, E_co]):
    """What a pipeline is to whoever runs it."""

    def __init__(self, node: Node) -> None:
        self._node: Node = node

    @property
    def node(self) -> Node:
        """The tree that this stage is."""
        return self._node

    @cached_property
    def wiring(self) -> Wiring:
        """The stage as `step` takes it: its tree as indexed instructions."""
        return wiring_of(self._node)

    async def run(
        self, given: A_contra, /, **options: Unpack[PipelineOptions]
    ) -> Outcome[B_co, E_co]:
        """Run the pipeline in memory, and give what came of it.

        Args:
            given: What the first stage is given.
            options: See `PipelineOptions`.

        Raises:
            StageCrashed: a stage raised; the exception carries the run.
            PipelineCancelled: it was ended by `cancel`, or by its `timeout`.
            UsageError: the pipeline waits for inputs, so it needs a journal.
        """
        outcome = await run_in_memory(self._node, self.wiring, given, options)
        return cast("Outcome[B_co, E_co]", outcome)  # as the types of its stages promise

    async def value(
        self: "Runs[A, B, Never]", given: A, /, **options: Unpack[PipelineOptions]
    ) -> B:
        """Run a pipeline that cannot fail, and give its value.

        Raises:
            StageCrashed: a stage raised; the exception carries the run.
            PipelineCancelled: it was ended by `cancel`, or by its `timeout`.
            UsageError: the pipeline waits for inputs, so it needs a journal.
        """
        outcome = await self.run(given, **options)
        return outcome.unwrap()

    def run_sync(
        self, given: A_contra, /, **options: Unpack[PipelineOptions]
    ) -> Outcome[B_co, E_co]:
        """As `run`, in an event loop of its own that ends with it.

        Raises:
            StageCrashed: a stage raised; the exception carries the run.
            PipelineCancelled: it was ended by `cancel`, or by its `timeout`.
            UsageError: as `run`, or this is called within a running event loop.
        """
        if in_event_loop():
            raise UsageError(
                "run_sync: expected no running event loop, got one: use `await run(…)`"
            )

        async def main() -> Outcome[B_co, E_co]:
            BLOCKING.set(False)  # this may be called by a tool that `drive_sync` runs
            return await self.run(given, **options)

        return anyio.run(main)

    async def start(
        self,
        given: A_contra,
        /,
        *,
        journal: JournalStore,
        run_id: str,
        **options: Unpack[StartOptions],
    ) -> PipelineRun[B_co, E_co]:
        """Begin a run that is written down, and carry it on until it ends or waits for inputs.

        What goes over each boundary is written as JSON, by the types in the annotations of the
        functions. The runs of agents are written down as well, and where one of them is blocked,
        the pipeline is suspended.

        Args:
            given: What the first stage is given.
            journal: Where the run is kept, such as a store of `stepfold.durable`.
            run_id: What it is called there.
            options: See `PipelineOptions`.

        Raises:
            JournalError: there is such a run already, or the store failed.
            UsageError: an annotation is missing, or a stage gave something else than it says.
        """
        run = await start(self._node, self.wiring, given, journal, run_id, options)
        return cast("PipelineRun[B_co, E_co]", run)

    async def resume(
        self,
        run_id: str,
        answers: Answers | None = None,
        /,
        *,
        journal: JournalStore,
        **options: Unpack[StartOptions],
    ) -> PipelineRun[B_co, E_co]:
        """Take up a run again where its journal ends: answered, or after a crash.

        A stage that was in flight runs again if it is `idempotent()` or a plain function;
        otherwise the run ends in `Crashed`. An agent goes on where it was. What was spent of the
        limits counts, and what a suspended pipeline waits for may be answered in part.

        Args:
            run_id: What the run is called.
            answers: Answers to what is open, by names, or by the members of `Suspended.open`
                themselves: values for an `OpenInput`; `approve(…)`, `deny(…)`, `tool_output(…)`
                or `tool_error(…)` for the request of an `AgentAsks`.
            journal: Where the run is kept.
            options: See `PipelineOptions`.

        Raises:
            JournalError: there is no such run, it is damaged, or somebody else goes on with it.
            UsageError: an answer does not fit, or the run is of another pipeline.
        """
        run = await resume(self._node, self.wiring, run_id, answers or {}, journal, options)
        return cast("PipelineRun[B_co, E_co]", run)

    async def replay(
        self, run_id: str, /, *, journal: JournalStore
    ) -> Outcome[PipelineState, Diverged]:
        """Decide a run that was kept anew, without running any stage, and give the state reached.

        Its `end` is `None` where the run has not ended; `open_inputs` tells what it waits for.

        Fails at the first record that this pipeline would not have written: another stage was
        asked, it gave what no longer fits, or an agent within decides otherwise. `position` counts
        the records after the first, from 0.

        Raises:
            JournalError: there is no such run, or it is damaged.
            UsageError: an annotation is missing.
        """
        return await replayed(self._node, self.wiring, run_id, journal)

    async def fork(
        self,
        run_id: str,
        new: str,
        /,
        *,
        journal: JournalStore,
        at: int | str,
        given: object | Unchanged = UNCHANGED,
    ) -> PipelineState:
        """Make a run that begins where another one was, and may go on otherwise; `resume` does.

        What was in flight or at rest there begins anew in the fork, under its own name. This
        pipeline may be another one than that of the run, as long as it agrees with what is kept
        up to there.

        Args:
            run_id: The run to begin from, which is unchanged.
            new: What the fork is called.
            journal: Where both are kept.
            at: After how many records, or before which stage, by its name: its first execution.
            given: What the stage that is open there shall be given in place of what it was.

        Raises:
            JournalError: there is no such run, it is damaged, or `new` exists.
            UsageError: the run has ended there, there is no such stage, the pipeline does not
                agree, or what is given does not fit.
        """
        return await fork(self._node, self.wiring, run_id, new, journal, at, given)
