"""`Turn`: one transition of a pipeline in the making.

The rules are those of `_step`. A turn is the one place where something is mutable: what is issued
and decided is gathered in lists, and becomes a value when the turn is over.
"""

from typing import Final, cast, final

from attrs import evolve
from returns.result import Failure, Success

from stepfold.loop import pause_of
from stepfold.pipeline._ends import (
    Crashed,
    Finished,
    PipelineEnd,
    Suspended,
)
from stepfold.pipeline._following import (
    chosen_arm,
    counted,
    counting,
    decides,
    ending,
    entered,
    expired,
    framed,
    joined,
    lineage_to,
    size_of,
    topmost_closing,
    with_fan,
)
from stepfold.pipeline._open import open_inputs
from stepfold.pipeline._results import TimedOut
from stepfold.pipeline._state import (
    Branch,
    Closing,
    Ended,
    Fan,
    Frame,
    Paused,
    PipelineState,
    Strand,
    Transition,
)
from stepfold.pipeline._vector import Row, row_of
from stepfold.pipeline._wiring import Instruction, Op, Wiring
from stepfold.pipeline.commands import CancelStage, Command, Pause, RunStage
from stepfold.pipeline.events import (
    InputGiven,
    StageAnswer,
    StageFailed,
    StageKey,
    StageRaised,
    StageRested,
    StageStopped,
    StageSucceeded,
    StageTimedOut,
    Waited,
)
from stepfold.pipeline.notes import (
    AgentRested,
    BranchFinished,
    FanFinished,
    FanStarted,
    InputAsked,
    Note,
    PipelineEnded,
    Result,
    StageFinished,
    StageStarted,
)
from stepfold.values import IllegalEvent, Instant

_SECOND: Final = 1_000_000_000

_WORK: Final = Op.WORK
_CHOOSE: Final = Op.CHOOSE
_SUCCEED: Final = Op.SUCCEED
_FAIL: Final = Op.FAIL
_FORK: Final = Op.FORK
_RACE: Final = Op.RACE
_EACH: Final = Op.EACH
_ASK: Final = Op.ASK

_RESULTS: Final[dict[type[StageAnswer], Result]] = {
    StageSucceeded: "succeeded",
    StageFailed: "failed",
    StageRaised: "raised",
    StageStopped: "stopped",
    StageTimedOut: "timed-out",
}


@final
class Turn:
    """One transition in the making: what it issues and decides, until it is over."""

    __slots__ = (
        "_at",
        "_busy",
        "_code",
        "_commands",
        "_notes",
        "_run",
        "_seed",
        "_tells",
        "_wiring",
    )

    def __init__(
        self,
        wiring: Wiring,
        run: str,
        seed: int,
        busy: int,
        at: Instant,
        tells: bool,  # noqa: FBT001 - of the hot path
    ) -> None:
        self._tells = tells
        self._wiring = wiring
        self._code = wiring.code
        self._run = run
        self._seed = seed
        self._busy = busy
        self._at = at
        self._commands: list[Command] = []
        self._notes: list[Note] = []

    def over(self, root: Branch | PipelineEnd[object, object]) -> Transition:
        """The transition, as a value."""
        end: PipelineEnd[object, object] | None = None
        match root:
            case Strand():
                state = PipelineState(self._run, self._seed, root, self._busy)
                if not self._busy:
                    end = Suspended(open_inputs(self._wiring, state))
            case Ended(is_success, value):
                end = Finished(Success(value) if is_success else Failure(value))
                state = PipelineState(self._run, self._seed, None, 0, end)
            case _:
                end = root
                state = PipelineState(self._run, self._seed, None, 0, end)
        if end is not None:
            self._notes.append(PipelineEnded(end, self._at))
        return Transition(state, tuple(self._commands), tuple(self._notes))

    # --- answers ------------------------------------------------------------------------------

    def answered(
        self, lineage: list[Strand], instruction: Instruction, event: StageAnswer
    ) -> Branch | PipelineEnd[object, object]:
        """Take the answer that the last strand of a lineage waited for."""
        strand = lineage[-1]
        closing = topmost_closing(lineage)
        result = _RESULTS.get(type(event))
        if not isinstance(event, InputGiven):
            self._busy -= 1
        if self._tells and result is not None and instruction.work is not None:
            self._notes.append(StageFinished(event.key, instruction.title, result, self._at))
        if isinstance(event, StageRaised):
            crashed = Crashed(instruction.title, event.exception, event.message)
            return self._crashed(lineage, event.key, crashed)
        if closing is not None:
            return self._without(lineage, closing)
        if isinstance(event, StageStopped):
            raise IllegalEvent(f"stage {event.key} was not to be cancelled")
        deadline = strand.deadline
        if deadline is not None and (isinstance(event, StageTimedOut) or self._at >= deadline):
            return self._timed_out(lineage, event.key, max(self._at, deadline))
        if isinstance(event, StageTimedOut):
            raise IllegalEvent(f"stage {event.key} had no deadline")
        return self._replaced(lineage, self._continued(strand, instruction, event))

    def begun(self, lineage: list[Strand]) -> Strand | Ended:
        """Keep in mind that the last strand of a lineage may have run what must not run twice."""
        return self._replaced(lineage, evolve(lineage[-1], known=()))

    def rested(
        self, lineage: list[Strand], instruction: Instruction, event: StageRested
    ) -> Branch | PipelineEnd[object, object]:
        """Let the last strand of a lineage wait for somebody outside."""
        strand = lineage[-1]
        self._busy -= 1
        closing = topmost_closing(lineage)
        if closing is not None:
            return self._without(lineage, closing)
        if strand.deadline is not None and self._at >= strand.deadline:
            return self._timed_out(lineage, event.key, self._at)
        told = AgentRested(event.key, instruction.title, event.asked, self._at)
        self._notes.append(told)
        return self._replaced(lineage, evolve(strand, known=event.asked))

    def taken_up(self, lineage: list[Strand], instruction: Instruction) -> Strand | Ended:
        """Let the last strand of a lineage, which rested, run again."""
        strand = evolve(lineage[-1], known=None)
        key = strand.key
        self._busy += 1
        self._commands.append(RunStage(key, strand.at, strand.value, strand.deadline))
        self._notes.append(StageStarted(key, instruction.title, self._at))
        return self._replaced(lineage, strand)

    def _continued(
        self,
        strand: Strand,
        instruction: Instruction,
        event: StageSucceeded | StageFailed | Waited | InputGiven,
    ) -> Strand | Ended:
        """Go on with a strand whose answer counts."""
        key, stack = strand.key, strand.stack
        match event:
            case StageSucceeded():
                if instruction.op is _WORK:
                    at, value = instruction.then, event.value
                else:
                    at, value = chosen_arm(instruction, event), strand.value
            case StageFailed():
                at, value = instruction.failed, event.error
            case InputGiven():
                at, value = instruction.then, event.value
            case Waited() if instruction.op is Op.AGAIN and stack is not None:
                at, value = instruction.then, stack.value
                stack = counting(stack)
            case _:
                value = strand.value.value if isinstance(strand.value, Paused) else strand.value
                at = instruction.then
        return self.proceed(key.strand, key.place + 1, strand.inherited, stack, at, value)

    # --- going on -----------------------------------------------------------------------------

    def proceed(
        self,
        path: tuple[int, ...],
        place: int,
        inherited: Instant | None,
        stack: Frame | None,
        at: int,
        value: object,
    ) -> Strand | Ended:
        """Follow the instructions until the strand has to wait, or ends."""
        while True:
            instruction = self._code[at]
            op = instruction.op
            if op is _WORK or op is _CHOOSE:
                key = StageKey(path, place)
                deadline = inherited if stack is None else stack.deadline
                self._commands.append(RunStage(key, at, value, deadline))
                if self._tells:
                    self._notes.append(StageStarted(key, instruction.title, self._at))
                self._busy += 1
                return Strand(key, at, value, stack, inherited)
            if op is _SUCCEED:
                return Ended(True, value)  # noqa: FBT003 - a field
            if op is _FAIL:
                return Ended(False, value)  # noqa: FBT003 - a field
            if op is _FORK or op is _RACE or op is _EACH:
                strand = Strand(StageKey(path, place), at, value, stack, inherited)
                return self._branched(strand, instruction)
            if op is _ASK:
                key = StageKey(path, place)
                name = "" if instruction.asked is None else instruction.asked.name
                self._notes.append(InputAsked(key, name, str(value), self._at))
                return Strand(key, at, value, stack, inherited)
            if op is Op.SLEEP:
                delay = int((instruction.seconds or 0) * _SECOND)
                return self._paused(
                    Strand(StageKey(path, place), at, value, stack, inherited), delay
                )
            if op is Op.ENTER:
                stack = entered(instruction, stack, inherited, at, value, self._at)
                at = instruction.then
            elif op is Op.COUNT:
                at, value = counted(instruction, value)
            elif stack is None:
                raise AssertionError(instruction)  # what follows is within a frame, always
            elif op is Op.AGAIN and stack.count + 1 < instruction.bound and instruction.policy:
                place_name = f"{self._run}/{'.'.join(map(str, path))}/{place}"
                delay = pause_of(instruction.policy, stack.count, self._seed, place_name)
                return self._paused(
                    Strand(StageKey(path, place), at, value, stack, inherited), delay
                )
            else:
                stack, at, value = framed(instruction, stack, value)

    def _paused(self, strand: Strand, delay: int) -> Strand:
        key, until = strand.key, self._at + delay
        self._commands.append(Pause(key, until, strand.deadline))
        self._busy += 1
        return Strand(
            strand.key,
            strand.at,
            Paused(strand.value, until),
            strand.stack,
            strand.inherited,
        )

    # --- fans ---------------------------------------------------------------------------------

    def _branched(self, strand: Strand, instruction: Instruction) -> Strand | Ended:
        """Begin the branches of a fan."""
        size = size_of(instruction, strand.value)
        key = strand.key
        self._notes.append(FanStarted(key, instruction.title, size, self._at))
        return self._filled(strand, instruction, Fan(row_of([None] * size), 0, 0))

    def _filled(self, strand: Strand, instruction: Instruction, fan: Fan) -> Strand | Ended:
        """Begin as many branches as may run now, and go on if none is left."""
        fresh: list[Branch] = []
        begun, running, size = fan.next, fan.running, fan.branches.size
        limit = instruction.bound or size
        arms, place, deadline = instruction.arms, strand.key.place, strand.deadline
        given = strand.value
        items = cast("tuple[object, ...]", given) if instruction.op is _EACH else None
        while begun < size and running < limit:
            path = (*strand.path, place, begun)
            if items is not None:
                branch = self.proceed(path, 0, deadline, None, arms[0], items[begun])
            else:
                branch = self.proceed(path, 0, deadline, None, arms[begun], given)
            fresh.append(branch)
            begun += 1
            if isinstance(branch, Strand):
                running += 1
                continue
            self._branch_over(strand, begun - 1, branch)
            if decides(instruction, branch):
                branches = fan.branches.filled(fan.next, fresh)
                return self._decided(strand, instruction, Fan(branches, begun, running), branch)
        branches = fan.branches.filled(fan.next, fresh)
        if running:
            return with_fan(strand, Fan(branches, begun, running))
        return self._joined(strand, instruction, branches)

    def _branch_ended(self, strand: Strand, index: int, branch: Ended) -> Strand | Ended:
        """Go on with a strand after one of its branches has ended."""
        fan, instruction = strand.fan, self._code[strand.at]
        if fan is None:
            raise AssertionError(strand)
        left = Fan(fan.branches.put(index, branch), fan.next, fan.running - 1)
        self._branch_over(strand, index, branch)
        if decides(instruction, branch):
            return self._decided(strand, instruction, left, branch)
        if left.running and left.next == left.branches.size:
            return with_fan(strand, left)  # all have begun, and some still run
        return self._filled(strand, instruction, left)

    def _branch_over(self, strand: Strand, index: int, branch: Ended) -> None:
        if self._tells:
            told = BranchFinished(strand.key, index, branch.is_success, self._at)
            self._notes.append(told)

    def _decided(
        self, strand: Strand, instruction: Instruction, fan: Fan, branch: Ended
    ) -> Strand | Ended:
        """Go on as one branch has decided, once all others have ended."""
        at = instruction.then if branch.is_success else instruction.failed
        closing = Closing(at, branch.value, strand.stack)
        left = self._stopped(fan, None)
        if left.running:
            return with_fan(strand, left, closing)
        return self._closed(strand, closing)

    def _joined(
        self, strand: Strand, instruction: Instruction, branches: Row[Branch]
    ) -> Strand | Ended:
        """Go on with what all branches came to."""
        ended = [branch for branch in branches if isinstance(branch, Ended)]
        at, value = instruction.then, joined(instruction, ended)
        if instruction.op is _RACE:  # nobody has won: the first of the failures, as listed
            at, value = instruction.failed, ended[0].value
        return self._closed(strand, Closing(at, value, strand.stack))

    def _closed(self, strand: Strand, closing: Closing) -> Strand | Ended:
        """Go on with a strand in which nothing runs any more."""
        key = strand.key
        self._notes.append(FanFinished(key, self._code[strand.at].title, self._at))
        return self.proceed(
            strand.path,
            strand.key.place + 1,
            strand.inherited,
            closing.stack,
            closing.at,
            closing.value,
        )

    # --- stopping -----------------------------------------------------------------------------

    def _stopped(self, fan: Fan, spared: StageKey | None) -> Fan:
        """Cancel all that runs in a fan, but for a stage that has just answered."""
        branches, running = fan.branches, 0
        for index, branch in enumerate(list(branches)):
            if isinstance(branch, Strand):
                left = self._stopped_strand(branch, spared)
                running += left is not None
                branches = branches.put(index, left)
        return Fan(branches, branches.size, running)

    def _stopped_strand(self, strand: Strand, spared: StageKey | None) -> Strand | None:
        """Cancel what runs in a strand; `None` where nothing does."""
        if strand.fan is None:
            if strand.known or self._code[strand.at].op is _ASK:
                return None
            key = strand.key
            if key != spared:
                self._commands.append(CancelStage(key))
            return strand
        if strand.closing is not None:
            return strand  # they have been cancelled already
        fan = self._stopped(strand.fan, spared)
        return with_fan(strand, fan) if fan.running else None

    def cancelled(
        self, root: Strand, end: PipelineEnd[object, object]
    ) -> Branch | PipelineEnd[object, object]:
        """End the run, once all that runs has ended."""
        if root.closing is not None and root.closing.end is not None:
            return root  # the first reason counts
        left = self._stopped_strand(root, None)
        return end if left is None else ending(left, end)

    def _crashed(
        self, lineage: list[Strand], key: StageKey, crashed: Crashed
    ) -> Branch | PipelineEnd[object, object]:
        """End the run, once all others that run have ended."""
        root = self._stopped_strand(lineage[0], key)
        if root is None or root.fan is None:
            return crashed
        first = topmost_closing(lineage)
        if first == 0 and isinstance(getattr(root.closing, "end", None), Crashed):
            crashed_root = root  # the first defect is the one that counts
        else:
            crashed_root = ending(root, crashed)
        renewed = lineage_to(crashed_root, key.strand)
        return self._without(renewed or lineage, 0)

    def _timed_out(
        self, lineage: list[Strand], key: StageKey, now: Instant
    ) -> Branch | PipelineEnd[object, object]:
        """Fail the outermost stage whose time is up, once all within it has ended."""
        for level, strand in enumerate(lineage):
            frame = expired(strand, now)
            if frame is None:
                continue
            instruction = self._code[frame.at]
            seconds = instruction.seconds or 0
            closing = Closing(instruction.failed, TimedOut(seconds), frame.below)
            if strand.fan is None:
                going_on = self.proceed(
                    strand.path,
                    strand.key.place + 1,
                    strand.inherited,
                    closing.stack,
                    closing.at,
                    closing.value,
                )
                return self._replaced(lineage, going_on)
            stopped = with_fan(strand, self._stopped(strand.fan, key), closing)
            rest = lineage_to(stopped, key.strand[2 * level :])
            return self._without([*lineage[:level], *(rest or ())], level)
        raise AssertionError(lineage)

    def _without(
        self, lineage: list[Strand], closing_at: int
    ) -> Branch | PipelineEnd[object, object]:
        """Take the last strand of a lineage out, and go on where its end was waited for."""
        result: Branch = None
        level = len(lineage) - 1
        path = lineage[-1].path
        while level > closing_at:
            level -= 1
            strand, index = lineage[level], path[2 * level + 1]
            fan = strand.fan
            if fan is None:
                raise AssertionError(strand)
            left = Fan(fan.branches.put(index, result), fan.next, fan.running - (result is None))
            result = with_fan(strand, left, strand.closing) if left.running else None
        if result is not None:
            return self._replaced(lineage[: closing_at + 1], result)
        closing = lineage[closing_at].closing
        if closing is None:
            raise AssertionError(lineage)
        if closing.end is not None:
            return closing.end
        going_on = self._closed(lineage[closing_at], closing)
        return self._replaced(lineage[: closing_at + 1], going_on)

    def _replaced(self, lineage: list[Strand], result: Strand | Ended) -> Strand | Ended:
        """Put what became of the last strand of a lineage in its place."""
        path = lineage[-1].path
        for level in range(len(lineage) - 2, -1, -1):
            strand, index = lineage[level], path[2 * level + 1]
            if isinstance(result, Ended):
                result = self._branch_ended(strand, index, result)
            elif strand.fan is not None:
                fan = strand.fan
                branches = fan.branches.put(index, result)
                result = with_fan(strand, Fan(branches, fan.next, fan.running), strand.closing)
        return result
