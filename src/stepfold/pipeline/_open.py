"""What a run of a pipeline waits for: the commands it issued, and the inputs it asked for."""

from stepfold.pipeline._ends import OpenInput
from stepfold.pipeline._state import Branch, Paused, PipelineState, Strand
from stepfold.pipeline._wiring import Op, Wiring
from stepfold.pipeline.commands import Command, Pause, RunStage
from stepfold.pipeline.events import StageKey


def open_inputs(wiring: Wiring, state: PipelineState) -> tuple[OpenInput, ...]:
    """The inputs that a pipeline waits for, in the order of its branches."""
    return tuple(
        OpenInput(StageKey(strand.path, strand.place), asked.name, str(strand.value))
        for strand in _leaves(state.root)
        if (asked := wiring.code[strand.at].asked) is not None
    )


def pending(wiring: Wiring, state: PipelineState) -> tuple[Command, ...]:
    """The commands whose answers are awaited; one to run a stage is as it was issued."""
    found: list[Command] = []
    for strand in _leaves(state.root):
        op = wiring.code[strand.at].op
        key = StageKey(strand.path, strand.place)
        if op in {Op.WORK, Op.CHOOSE}:
            found.append(RunStage(key, strand.at, strand.value, strand.deadline))
        elif isinstance(strand.value, Paused) and op is not Op.ASK:
            found.append(Pause(key, strand.value.until, strand.deadline))
    return tuple(found)


def _leaves(root: Strand | None) -> list[Strand]:
    """The strands without a fan, in order."""
    found: list[Strand] = []
    todo: list[Branch] = [root]
    while todo:
        strand = todo.pop()
        if isinstance(strand, Strand):
            if strand.fan is None:
                found.append(strand)
            else:
                todo.extend(reversed(list(strand.fan.branches)))
    return found
