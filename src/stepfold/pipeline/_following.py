"""What follows from what, strand by strand: the small decisions that a transition is made of."""

from typing import Final, cast

from returns.result import Failure, Success

from stepfold.pipeline._ends import PipelineEnd
from stepfold.pipeline._results import Accepted, BoundReached, Improve, Revision
from stepfold.pipeline._state import Branch, Closing, Ended, Fan, Frame, Strand
from stepfold.pipeline._wiring import Instruction, Op
from stepfold.pipeline.events import StageSucceeded
from stepfold.values import IllegalEvent, Instant

_SECOND: Final = 1_000_000_000
_EACH: Final = Op.EACH
_RACE: Final = Op.RACE


def lineage_to(root: Strand, path: tuple[int, ...]) -> list[Strand] | None:
    """The strands from the root to the one with this path; `None` if that is no longer open.

    Raises:
        IllegalEvent: there never was one.
    """
    found = [root]
    for level in range(0, len(path), 2):
        strand, place, index = found[-1], path[level], path[level + 1]
        fan = strand.fan
        here = strand.key.place
        if place > here or (fan is None and place == here):
            raise IllegalEvent(f"no stage was ever issued in strand {path}")
        if fan is None or place < here:
            return None
        if not 0 <= index < fan.next:
            raise IllegalEvent(f"no stage was ever issued in strand {path}")
        branch = fan.branches.get(index)
        if not isinstance(branch, Strand):
            return None
        found.append(branch)
    return found


def topmost_closing(lineage: list[Strand]) -> int | None:
    for level, strand in enumerate(lineage):
        if strand.closing is not None:
            return level
    return None


def with_fan(strand: Strand, fan: Fan, closing: Closing | None = None) -> Strand:
    return Strand(
        strand.key,
        strand.at,
        strand.value,
        strand.stack,
        strand.inherited,
        fan,
        closing,
    )


def ending(root: Strand, end: PipelineEnd[object, object]) -> Strand:
    """A root that ends the run as soon as nothing runs in it any more."""
    closing = Closing(root.at, None, None, end)
    return Strand(
        root.key,
        root.at,
        root.value,
        root.stack,
        root.inherited,
        root.fan,
        closing,
    )


def expired(strand: Strand, now: Instant) -> Frame | None:
    """The outermost frame of a strand whose deadline has passed, unless it inherited that."""
    found: Frame | None = None
    frame = strand.stack
    while frame is not None and frame.deadline is not None and frame.deadline <= now:
        found = frame
        frame = frame.below
    if found is None or (strand.inherited is not None and strand.inherited <= now):
        return None
    return found


def chosen_arm(instruction: Instruction, event: StageSucceeded) -> int:
    """Where a choice goes on.

    Raises:
        IllegalEvent: there is no such arm.
    """
    chosen, arms = event.value, instruction.arms
    if isinstance(chosen, int) and 0 <= chosen < len(arms):
        return arms[chosen]
    raise IllegalEvent(
        f"{instruction.title}: expected the number of one of {len(arms)} arms, got {chosen!r:.100}"
    )


def size_of(instruction: Instruction, value: object) -> int:
    if instruction.op is _EACH:
        return len(cast("tuple[object, ...]", value))  # its items have been read before
    return len(instruction.arms)


def decides(instruction: Instruction, branch: Branch) -> bool:
    """Whether what a branch came to decides the whole fan."""
    if not isinstance(branch, Ended):
        return False
    if instruction.op is _RACE:
        return branch.is_success
    return not branch.is_success and not instruction.settles


def joined(instruction: Instruction, ended: list[Ended]) -> object:
    if instruction.settles:
        return tuple(Success(one.value) if one.is_success else Failure(one.value) for one in ended)
    return tuple(one.value for one in ended)


def counted(instruction: Instruction, value: object) -> tuple[int, object]:
    """Go on unless there are more items than the bound."""
    size = len(cast("tuple[object, ...]", value))  # its items have been read before
    if size > instruction.bound:
        return instruction.failed, BoundReached(instruction.bound, size)
    return instruction.then, value


def framed(
    instruction: Instruction, stack: Frame, value: object
) -> tuple[Frame | None, int, object]:
    """Follow an instruction that reads or leaves the topmost frame."""
    then, bound, count = instruction.then, instruction.bound, stack.count
    match instruction.op:
        case Op.LEAVE:
            return stack.below, then, value
        case Op.RESTORE:
            return stack.below, then, stack.value
        case Op.PAIR:
            return stack, then, (stack.value, value)
        case Op.HOLD:
            return Frame(stack.below, stack.at, value, count, stack.deadline), then, value
        case Op.AGAIN if count + 1 < bound:
            return counting(stack), then, stack.value
        case Op.TURN if count < bound:
            return counting(stack), then, value
        case Op.TURN:
            return stack, instruction.failed, BoundReached(count, value)
        case Op.JUDGE if type(value) is Accepted:
            return stack, then, stack.value
        case Op.JUDGE if count < bound:
            revision = Revision(stack.value, cast("Improve[object]", value).feedback)
            return counting(stack), instruction.arms[0], revision
        case Op.JUDGE:
            return stack, instruction.failed, BoundReached(count, stack.value)
        case _:
            return stack, instruction.failed, value


def counting(stack: Frame) -> Frame:
    return Frame(stack.below, stack.at, stack.value, stack.count + 1, stack.deadline)


def entered(
    instruction: Instruction,
    stack: Frame | None,
    inherited: Instant | None,
    at: int,
    value: object,
    now: Instant,
) -> Frame:
    """The frame that an instruction makes, with the deadline that holds in it."""
    deadline = inherited if stack is None else stack.deadline
    seconds = instruction.seconds
    if seconds is not None:
        own = now + int(seconds * _SECOND)
        deadline = own if deadline is None else min(own, deadline)
    return Frame(stack, at, value, 0, deadline)
