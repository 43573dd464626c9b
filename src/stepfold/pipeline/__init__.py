"""Floor 6: typed pipelines, whose wiring is checked before anything runs.

A `Stage[A, B, E]` takes an `A` and gives a `B`, or a failure that is an `E`. Stages are put
together by methods and operators, and what comes out is a stage again, and a value.
"""

from stepfold.pipeline import commands, events, interop, notes
from stepfold.pipeline._context import StageContext
from stepfold.pipeline._ends import (
    AgentAsks,
    Crashed,
    Finished,
    Open,
    OpenInput,
    PipelineEnd,
    Suspended,
)
from stepfold.pipeline._execute import PipelineOptions, StartOptions
from stepfold.pipeline._kept import AsksAgent, Kept, KeptAgent, Rested
from stepfold.pipeline._make import (
    Case,
    When,
    await_input,
    await_input_with,
    case,
    chosen,
    contextual,
    fallible,
    given,
    identity,
    orchestrate,
    pure,
    sleep,
    stage,
    when,
)
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._open import open_inputs, pending
from stepfold.pipeline._reading import carried_out
from stepfold.pipeline._results import (
    Accepted,
    BoundReached,
    Improve,
    NotRouted,
    Revision,
    TimedOut,
    Verdict,
)
from stepfold.pipeline._run import PipelineCancelled, PipelineRun, StageCrashed
from stepfold.pipeline._stage import Cases, Fan, Stage, branch, parallel, parallel_all
from stepfold.pipeline._state import PipelineState, Strand, Transition
from stepfold.pipeline._step import begin, step
from stepfold.pipeline._wiring import Wiring

__all__ = (
    "Accepted",
    "AgentAsks",
    "AsksAgent",
    "BoundReached",
    "Case",
    "Cases",
    "Crashed",
    "Fan",
    "Finished",
    "Improve",
    "Kept",
    "KeptAgent",
    "Node",
    "NotRouted",
    "Open",
    "OpenInput",
    "PipelineCancelled",
    "PipelineEnd",
    "PipelineOptions",
    "PipelineRun",
    "PipelineState",
    "Rested",
    "Revision",
    "Stage",
    "StageContext",
    "StageCrashed",
    "StartOptions",
    "Strand",
    "Suspended",
    "TimedOut",
    "Transition",
    "Verdict",
    "When",
    "Wiring",
    "await_input",
    "await_input_with",
    "begin",
    "branch",
    "carried_out",
    "case",
    "chosen",
    "commands",
    "contextual",
    "events",
    "fallible",
    "given",
    "identity",
    "interop",
    "notes",
    "open_inputs",
    "orchestrate",
    "parallel",
    "parallel_all",
    "pending",
    "pure",
    "sleep",
    "stage",
    "step",
    "when",
)
