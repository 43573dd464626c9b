"""What a run of a pipeline waits for: the commands it issued, and the inputs it asked for."""

from collections.abc import Iterator

from stepfold.pipeline._ends import AgentAsks, Open, OpenInput
from stepfold.pipeline._state import Branch, Paused, PipelineState, Strand
from stepfold.pipeline._wiring import Op, Wiring
from stepfold.pipeline.commands import Command, Pause, RunStage


def open_inputs(wiring: Wiring, state: PipelineState) -> tuple[Open, ...]:
    """What a pipeline waits for from outside, in the order of its branches."""
    return tuple(one for strand in leaves_of(state.root) for one in _open_in(wiring, strand))


def _open_in(wiring: Wiring, strand: Strand) -> Iterator[Open]:
    key, instruction = strand.key, wiring.code[strand.at]
    if instruction.asked is not None:
        yield OpenInput(key, instruction.asked.name, str(strand.value))
    for request in strand.asked:
        yield AgentAsks(key, instruction.title, request)


def pending(wiring: Wiring, state: PipelineState) -> tuple[Command, ...]:
    """The commands whose answers are awaited; one to run a stage is as it was issued."""
    found: list[Command] = []
    for strand in leaves_of(state.root):
        if strand.asked:
            continue
        op = wiring.code[strand.at].op
        key = strand.key
        if op in {Op.WORK, Op.CHOOSE}:
            found.append(RunStage(key, strand.at, strand.value, strand.deadline))
        elif isinstance(strand.value, Paused) and op is not Op.ASK:
            found.append(Pause(key, strand.value.until, strand.deadline))
    return tuple(found)


def leaves_of(root: Strand | None) -> list[Strand]:
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
