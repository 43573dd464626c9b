"""Runs that a tool begins: what they were given of the tool's grant, and what they spent.

What one run may spend is taken from the grant when it begins, and what it left is put back when it
has ended. So runs side by side cannot spend the same twice: the first takes all that is left,
unless its own limits are tighter.
"""

import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import final

from attrs import evolve

from stepfold.loop import NO_LIMITS, Granted, Limits, LoopState, Program, granted_to, prices_of
from stepfold.loop.commands import Grant, RunTool
from stepfold.loop.events import Spending
from stepfold.shell._cancel import CancelHandle
from stepfold.values import Price, ToolFault, UsageError


@final
class ChildRuns:
    """The runs of one tool call: begun by the tool, closed by the driver when the call is over."""

    def __init__(
        self,
        key: str,
        declared: Limits,
        grant: Grant,
        prices: Mapping[str, Price],
        handle: CancelHandle | None = None,
    ) -> None:
        self.handle: CancelHandle | None = handle
        self.thread: int = threading.get_ident()
        self.is_left: bool = False
        self.prices: Mapping[str, Price] = prices
        self.limits: Limits = evolve(
            declared, tokens=grant.tokens, cost=grant.cost, tool_calls=grant.tool_calls
        )
        self._key = key
        self._left = grant
        self._count = 0
        self._open: list[ChildRun] = []
        self._told: Spending | None = None
        self._is_over = False
        self._lock = threading.Lock()  # a tool may be a function in a thread

    def begin(self, program: Program, taken_up: LoopState | None = None) -> "ChildRun":
        """Take what a run of this program may spend; it keeps to its limits and to the grant.

        What a run that is `taken_up` has spent before was not spent by this call.

        Raises:
            UsageError: the call is over, or the cost is limited and a model has no price.
        """
        own = program.limits
        with self._lock:
            if self._is_over:
                raise UsageError(
                    f"parent: the tool call {self._key} is over; a run that belongs to it has to "
                    "begin and to end before its tool returns"
                )
            left, most = self._left, self.limits
            before = NOTHING_SPENT if taken_up is None else spent_by(taken_up)
            steps = 0 if taken_up is None else len(taken_up.steps)
            taken = Grant(
                _least(_less(own.tokens, before.tokens), left.tokens),
                _least(_less(own.cost, before.spent_cost), left.cost),
                _least(_less(own.tool_calls, before.tool_calls), left.tool_calls),
            )
            limits = evolve(
                own,
                steps=_least(own.steps, _more(most.steps, steps)),
                tokens=_more(taken.tokens, before.tokens),
                cost=_more(taken.cost, before.spent_cost),
                tool_calls=_more(taken.tool_calls, before.tool_calls),
                wrap_up_tokens=(
                    most.wrap_up_tokens if own.wrap_up_tokens is None else own.wrap_up_tokens
                ),
            )
            granted = granted_to(program, limits, self.prices)
            self._left = Grant(
                _without(left.tokens, taken.tokens),
                _without(left.cost, taken.cost),
                _without(left.tool_calls, taken.tool_calls),
            )
            run = self._key if self._count == 0 else f"{self._key}.{self._count}"
            if taken_up is None:
                self._count += 1
            else:
                run = taken_up.identity.run
            child = ChildRun(self, run, granted, taken, before)
            self._open.append(child)
            return child

    def end(self, child: "ChildRun", state: LoopState) -> None:
        """Count what a run has spent, and put back what it left; once, and not after the call."""
        with self._lock:
            if child not in self._open:
                return
            self._open.remove(child)
            taken, left = child.taken, self._left
            spent = _since(child.before, spent_by(state))
            self._left = Grant(
                _with(left.tokens, taken.tokens, spent.tokens),
                _with(left.cost, taken.cost, spent.spent_cost),
                _with(left.tool_calls, taken.tool_calls, spent.tool_calls),
            )
            self._tell(spent)

    def take_call(self, tool: str) -> None:
        """Take one tool call of the grant, for a call within this one.

        Raises:
            ToolFault: none is left.
            UsageError: the call is over.
        """
        with self._lock:
            if self._is_over:
                raise UsageError(f"call: the tool call {self._key} is over")
            left = self._left.tool_calls
            if left is not None:
                if left < 1:
                    raise ToolFault(f"not run: no tool calls are left for {tool}")
                self._left = evolve(self._left, tool_calls=left - 1)
            self._tell(Spending(cost=0, tool_calls=1))

    def report(self, spent: Spending) -> None:
        """Count what the call spent beside its runs."""
        with self._lock:
            self._tell(spent)

    def _tell(self, spent: Spending) -> None:
        self._told = spent if self._told is None else self._told + spent

    def close(self) -> Spending | None:
        """End the call, and give what is known of its spending: `None` if nobody has told any.

        A run that has not ended counts as all that it was given.
        """
        with self._lock:
            self._is_over = True
            for child in self._open:
                taken = child.taken
                self._tell(
                    Spending(
                        tokens=taken.tokens or 0,
                        cost=None,
                        spent_cost=taken.cost or 0,
                        tool_calls=taken.tool_calls or 0,
                    )
                )
            self._open.clear()
            return self._told


def children_of(
    program: Program, command: RunTool, state: LoopState, handle: CancelHandle | None
) -> ChildRuns | None:
    """What a call may begin, if its tool was granted anything.

    By the handle of its run these are given up with it, if the call may be made again.
    """
    if command.grant is None:
        return None
    spec = program.tools.get(command.tool_name)
    declared = NO_LIMITS if spec is None else spec.grant or NO_LIMITS
    identity = state.identity
    call = f"{identity.run}/{command.key.step}/{command.key.index}"
    if spec is None or not spec.idempotent:
        handle = None
    prices = prices_of(program, identity.granted)
    return ChildRuns(call, declared, command.grant, prices, handle)


@final
class ChildRun:
    """One run of a tool call: its name, and what it was granted."""

    def __init__(
        self, parent: ChildRuns, run: str, granted: Granted, taken: Grant, before: Spending
    ) -> None:
        self.run: str = run
        self.granted: Granted = granted
        self.taken: Grant = taken
        self.before: Spending = before
        self._parent = parent

    @property
    def is_to_leave(self) -> bool:
        """Whether the run that called is given up, and this one with it."""
        handle = self._parent.handle
        return handle is not None and handle.is_leaving

    def following(self, handle: CancelHandle) -> AbstractContextManager[None]:
        """Give the run that has this handle up with the one that called.

        One in a thread of its own is not reached: it comes to its end.
        """
        leader = self._parent.handle
        if leader is None or self._parent.thread != threading.get_ident():
            return nullcontext()
        return leader.leading(handle)

    def leave(self) -> None:
        """Tell that the run was given up with the one that called: that calls again elsewhere."""
        self._parent.is_left = self.is_to_leave

    def end(self, state: LoopState) -> None:
        """Tell the state in which the run was left."""
        self._parent.end(self, state)


NOTHING_SPENT = Spending()


def spent_by(state: LoopState) -> Spending:
    """What a run has spent so far; what is in flight counts as spent."""
    ledger = state.ledger
    return Spending(
        ledger.usage,
        ledger.spent + ledger.reserved,
        ledger.cost,
        ledger.spent_cost + ledger.reserved_cost,
        ledger.total_issued + ledger.reserved_calls,
    )


def _since(before: Spending, now: Spending) -> Spending:
    """What was spent between two moments of a run."""
    if before is NOTHING_SPENT:
        return now
    return Spending(
        now.usage - before.usage,
        now.tokens - before.tokens,
        _less(now.cost, before.cost),
        now.spent_cost - before.spent_cost,
        now.tool_calls - before.tool_calls,
    )


def _less(figure: int | None, other: int | None) -> int | None:
    return None if figure is None else max(0, figure - (other or 0))


def _more(figure: int | None, other: int) -> int | None:
    return None if figure is None else figure + other


def _least(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _without(left: int | None, taken: int | None) -> int | None:
    return None if left is None else left - (taken or 0)


def _with(left: int | None, taken: int | None, spent: int) -> int | None:
    """What is left after a run has put back what it did not spend; it may have spent more."""
    return None if left is None else max(0, left + (taken or 0) - spent)
