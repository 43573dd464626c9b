"""`Wiring`: a pipeline as an indexed program, made from its tree once.

Each instruction knows by index where a success goes on (`then`) and where a failure does
(`failed`), so what catches failures costs nothing on the way of successes, and needs no frame.
Instructions are written from the end to the beginning, where both places are known already; only
loops need a place before what is there is known. The two first instructions are the ends of every
strand. The tree is walked by generators on a stack, not by recursion.
"""

import enum
from collections.abc import Generator
from typing import Final, TypeAlias, final

from attrs import evolve, field, frozen

from stepfold.loop import RetryPolicy
from stepfold.pipeline._nodes import (
    Awaited,
    Caught,
    CaughtBy,
    Chain,
    Choice,
    Counted,
    Each,
    Fallback,
    Given,
    Improving,
    Leaf,
    Loop,
    Node,
    Repeatable,
    Retry,
    Sleep,
    Timed,
    Titled,
    Together,
)
from stepfold.pipeline._works import READ_VERDICT, Work
from stepfold.values import UsageError


@final
class Op(enum.Enum):
    """What an instruction does."""

    SUCCEED = "succeed"  # the strand ends with a value
    FAIL = "fail"  # the strand ends with a failure
    WORK = "work"  # have a function run; its value goes on
    CHOOSE = "choose"  # have a function run; its number is the arm where the value goes on
    ENTER = "enter"  # keep the value, and count from 0
    LEAVE = "leave"  # forget what was kept
    RESTORE = "restore"  # forget it, and go on with what was kept
    HOLD = "hold"  # keep another value
    AGAIN = "again"  # after a failure: go on with what was kept, if there are attempts left
    TURN = "turn"  # count a round; at the bound, fail
    JUDGE = "judge"  # read a verdict on what was kept
    COUNT = "count"  # fail if there are more items than the bound
    FORK = "fork"  # all arms with one value
    RACE = "race"  # all arms with one value, until one succeeds
    EACH = "each"  # one arm with each item
    SLEEP = "sleep"  # wait
    ASK = "ask"  # wait for an input; the value is the question
    PAIR = "pair"  # make a pair of what was kept and the value


@final
@frozen(order=False, eq=False)
class Instruction:
    """One instruction; `title` is where it is in the tree, for people."""

    op: Op
    title: str
    then: int
    failed: int
    work: Work | None = None
    arms: tuple[int, ...] = ()
    bound: int = 0
    seconds: float | None = None
    policy: RetryPolicy | None = field(default=None, kw_only=True)
    settles: bool = field(default=False, kw_only=True)
    asked: Awaited | None = field(default=None, kw_only=True)
    repeats: bool = field(default=False, kw_only=True)


SUCCEEDED: Final = 0
FAILED: Final = 1

_Writing: TypeAlias = Generator["_Part", int, int]


@final
@frozen(order=False, eq=False)
class Wiring:
    """The instructions of a pipeline, and where it begins."""

    code: tuple[Instruction, ...] = field(repr=False)
    entry: int

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs that it waits for."""
        asked = (instruction.asked for instruction in self.code)
        return tuple(node.name for node in asked if node is not None)


@final
@frozen(order=False, eq=False)
class _Part:
    """A node to be written, and where it goes on."""

    node: Node
    then: int
    failed: int
    title: str
    repeats: bool = False


def wiring_of(node: Node) -> Wiring:
    """Write the instructions of a tree."""
    writer, stack = _Writer(), list[_Writing]()
    begun = writer.write(_Part(node, SUCCEEDED, FAILED, ""))
    while True:
        written: int | None = None  # what starts a generator
        if isinstance(begun, int):
            written = begun
        else:
            stack.append(begun)
        while stack:
            try:
                wanted = next(stack[-1]) if written is None else stack[-1].send(written)
            except StopIteration as done:
                written = int(done.value)
                stack.pop()
            else:
                begun = writer.write(wanted)
                break
        else:
            return _checked(Wiring(tuple(writer.code), written or SUCCEEDED))


def _checked(wiring: Wiring) -> Wiring:
    """Refuse two inputs of one name, since nobody could say which one an answer is for.

    Raises:
        UsageError: there are two.
    """
    names = wiring.inputs
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"await_input: expected names that differ, got two of {name!r}")
    return wiring


@final
class _Writer:
    """Writes instructions; each method gives the index at which its node is entered."""

    def __init__(self) -> None:
        self.code: Final[list[Instruction]] = [
            Instruction(Op.SUCCEED, "", SUCCEEDED, SUCCEEDED),
            Instruction(Op.FAIL, "", FAILED, FAILED),
        ]

    def add(self, instruction: Instruction) -> int:
        """Write one instruction."""
        self.code.append(instruction)
        return len(self.code) - 1

    def part(self, whole: _Part, node: Node, then: int, failed: int, title: str) -> _Part:
        """A part of a node that is being written."""
        return _Part(node, then, failed, title, whole.repeats)

    def write(self, part: _Part) -> _Writing | int:
        """Write a node, or begin to: what comes asks for the nodes within it to be written."""
        node, then, failed, title = part.node, part.then, part.failed, part.title
        match node:
            case Given():
                return then
            case Leaf(work):
                return self.work(Op.WORK, work, part)
            case Caught(work):
                return self.work(Op.WORK, work, part)
            case Chain(links):
                return self.chain(links, part)
            case CaughtBy(body):
                return self.within(body, part)
            case Titled(name, body):
                return self.within(body, evolve(part, node=body, title=f"{title}{name}/"))
            case Repeatable(body):
                return self.within(body, evolve(part, node=body, repeats=True))
            case Choice():
                return self.choice(node, part)
            case Loop():
                return self.loop(node, part)
            case Improving():
                return self.improving(node, part)
            case Retry():
                return self.retry(node, part)
            case Timed():
                return self.timed(node, part)
            case Fallback():
                return self.fallback(node, part)
            case Together():
                return self.together(node, part)
            case Each():
                return self.each(node, part)
            case Counted(at_most):
                return self.add(Instruction(Op.COUNT, title, then, failed, bound=at_most))
            case Sleep(seconds):
                label = f"{title}sleep"
                return self.add(Instruction(Op.SLEEP, label, then, failed, seconds=seconds))
            case Awaited():
                return self.awaited(node, part)

    def work(self, op: Op, work: Work, part: _Part, arms: tuple[int, ...] = ()) -> int:
        """Write what has a function run."""
        title = part.title + work.name
        repeats = part.repeats or work.is_plain
        written = Instruction(op, title, part.then, part.failed, work, arms, repeats=repeats)
        return self.add(written)

    def within(self, body: Node, part: _Part) -> _Writing:
        """Write a node in place of another."""
        return (yield evolve(part, node=body))

    def chain(self, links: tuple[Node, ...], part: _Part) -> _Writing:
        """Write from the last link to the first: what catches failures is where those before go."""
        then, failed = part.then, part.failed
        for link in reversed(links):
            match link:
                case Caught(work, recovers):
                    onward = then if recovers else failed
                    failed = self.work(
                        Op.WORK, work, self.part(part, link, onward, failed, part.title)
                    )
                case CaughtBy(body):
                    failed = yield self.part(part, body, then, failed, part.title)
                case Leaf(work):
                    then = self.work(Op.WORK, work, self.part(part, link, then, failed, part.title))
                case _:
                    then = yield self.part(part, link, then, failed, part.title)
        return then

    def choice(self, node: Choice, part: _Part) -> _Writing:
        """Write the arms, and then what chooses between them."""
        arms: list[int] = []
        for arm in node.arms:
            at = yield self.part(part, arm, part.then, part.failed, part.title)
            arms.append(at)
        return self.work(Op.CHOOSE, node.chooser, part, tuple(arms))

    def _left(self, op: Op, at: int, title: str) -> int:
        """Write what forgets a frame and goes on elsewhere."""
        return self.add(Instruction(op, title, at, at))

    def _entered(self, at: int, part: _Part, seconds: float | None = None) -> int:
        """Write what makes a frame."""
        entering = Instruction(Op.ENTER, part.title, at, part.failed, seconds=seconds)
        return self.add(entering)

    def loop(self, node: Loop, part: _Part) -> _Writing:
        """Write test, count, body, and back to the test."""
        title = part.title
        left = self._left(Op.LEAVE, part.then, title)
        lost = self._left(Op.LEAVE, part.failed, title)
        test = self.add(self.code[SUCCEEDED])  # written below
        body = yield self.part(part, node.body, test, lost, title)
        turn = self.add(Instruction(Op.TURN, title, body, lost, bound=node.at_most))
        arms = (turn, left) if node.ends else (left, turn)
        at = self.part(part, node, left, lost, title)
        self.code[test] = self.code[self.work(Op.CHOOSE, node.test, at, arms)]
        return self._entered(test, part)

    def improving(self, node: Improving, part: _Part) -> _Writing:
        """Write: hold the draft, evaluate, judge, improve, and hold the next."""
        title = part.title
        left = self._left(Op.RESTORE, part.then, title)
        lost = self._left(Op.LEAVE, part.failed, title)
        hold = self.add(self.code[SUCCEEDED])  # written below
        improve = yield self.part(part, node.improve, hold, lost, title)
        judging = Instruction(Op.JUDGE, title, left, lost, arms=(improve,), bound=node.at_most)
        read = self.work(
            Op.WORK, READ_VERDICT, self.part(part, node, self.add(judging), lost, title)
        )
        evaluate = yield self.part(part, node.evaluate, read, lost, title)
        self.code[hold] = Instruction(Op.HOLD, title, evaluate, lost)
        return self._entered(hold, part)

    def retry(self, node: Retry, part: _Part) -> _Writing:
        """Write the body between a frame that keeps the input, and a way back to it."""
        title = part.title
        left = self._left(Op.LEAVE, part.then, title)
        again = self.add(self.code[SUCCEEDED])  # written below
        body = yield self.part(part, node.body, left, again, title)
        lost = self._left(Op.LEAVE, part.failed, title)
        self.code[again] = Instruction(
            Op.AGAIN, f"{title}retry", body, lost, bound=node.attempts, policy=node.policy
        )
        return self._entered(body, part)

    def timed(self, node: Timed, part: _Part) -> _Writing:
        """Write the body in a frame with a deadline, which is passed on by failing."""
        left = self._left(Op.LEAVE, part.then, part.title)
        lost = self._left(Op.LEAVE, part.failed, part.title)
        body = yield self.part(part, node.body, left, lost, part.title)
        return self._entered(body, part, node.seconds)

    def fallback(self, node: Fallback, part: _Part) -> _Writing:
        """Write the other stage, and the first in a frame that keeps the input for it."""
        other = yield self.part(part, node.other, part.then, part.failed, part.title)
        left = self._left(Op.LEAVE, part.then, part.title)
        lost = self._left(Op.RESTORE, other, part.title)
        body = yield self.part(part, node.body, left, lost, part.title)
        return self._entered(body, part)

    def together(self, node: Together, part: _Part) -> _Writing:
        """Write the arms, which are strands of their own."""
        arms: list[int] = []
        for arm in node.arms:
            at = yield self.part(part, arm, SUCCEEDED, FAILED, part.title)
            arms.append(at)
        op, name = (Op.RACE, "race") if node.is_race else (Op.FORK, "parallel")
        title = part.title + name
        return self.add(Instruction(op, title, part.then, part.failed, arms=tuple(arms)))

    def each(self, node: Each, part: _Part) -> _Writing:
        """Write the one arm that each item takes."""
        arm = yield self.part(part, node.body, SUCCEEDED, FAILED, part.title)
        each = Instruction(
            Op.EACH,
            f"{part.title}map_each",
            part.then,
            part.failed,
            arms=(arm,),
            bound=node.limit,
            settles=node.settles,
        )
        return self.add(each)

    def awaited(self, node: Awaited, part: _Part) -> int:
        """Write the asking, and the waiting for an answer."""
        title = part.title + node.name
        left = self._left(Op.LEAVE, part.then, title)
        if node.keeps:
            left = self.add(Instruction(Op.PAIR, title, left, left))
        ask = self.add(Instruction(Op.ASK, title, left, part.failed, asked=node))
        asking = self.work(Op.WORK, node.ask, self.part(part, node, ask, part.failed, f"{title}/"))
        return self._entered(asking, part)
