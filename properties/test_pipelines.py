"""Law 17, and the laws of each combinator, beside a reference that only knows outcomes."""

import itertools
from collections.abc import Callable, Iterator
from itertools import product
from typing import Never, TypeAlias, final

import anyio
import anyio.lowlevel
import pytest
from attrs import frozen
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import stepfold as sf
from stepfold.durable import MemoryStore
from stepfold.pipeline import Stage
from stepfold.ports import JournalRecord
from stepfold.testing import ScriptedModel, VirtualClock, call, laws, reply

Numbers: TypeAlias = Stage[int, int, int]
"""Pipelines over numbers, whose failures are numbers as well."""

Possible: TypeAlias = frozenset[tuple[bool, int]]
"""Every outcome that some order of events may lead to: whether it is a success, and its number."""


@final
@frozen
class Drawn:
    """A pipeline, and what the reference says about it."""

    stage: Numbers
    outcomes: Callable[[int], Possible]


def yes(value: int) -> Possible:
    return frozenset({(True, value)})


def no(value: int) -> Possible:
    return frozenset({(False, value)})


def each(
    outcomes: Possible, success: Callable[[int], Possible], failure: Callable[[int], Possible]
) -> Possible:
    """Go on from every outcome."""
    found = ((success if is_success else failure)(value) for is_success, value in outcomes)
    return frozenset(one for possible in found for one in possible)


# --- one leaf, and what is made of one pipeline -----------------------------------------------


def added(number: int) -> Drawn:
    def add(value: int) -> sf.Outcome[int, int]:
        return sf.Success(value + number)

    return Drawn(sf.fallible(add), lambda it: yes(it + number))


def failing(number: int) -> Drawn:
    def check(value: int) -> sf.Outcome[int, int]:
        return sf.Failure(value) if value % number == 0 else sf.Success(value)

    return Drawn(sf.fallible(check), lambda it: no(it) if it % number == 0 else yes(it))


def in_sequence(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(one.stage >> two.stage, lambda it: each(one.outcomes(it), two.outcomes, no))


def recovered(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(
        one.stage.recover_with(two.stage), lambda it: each(one.outcomes(it), yes, two.outcomes)
    )


def failure_mapped(one: Drawn, number: int) -> Drawn:
    def mapped(error: int) -> int:
        return error + number

    return Drawn(
        one.stage.map_failure(mapped),
        lambda it: each(one.outcomes(it), yes, lambda error: no(error + number)),
    )


def fallen_back(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(
        one.stage.fallback(two.stage),
        lambda it: each(one.outcomes(it), yes, lambda _: two.outcomes(it)),
    )


def retried(one: Drawn, attempts: int) -> Drawn:
    policy = sf.RetryPolicy(max_retries=attempts, initial_delay=0)
    return Drawn(one.stage.retry(policy), one.outcomes)


def timed(one: Drawn) -> Drawn:
    def plain(error: int | sf.TimedOut) -> int:
        return error if isinstance(error, int) else -1

    return Drawn(one.stage.timeout(1e6).map_failure(plain), one.outcomes)


def chosen(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(
        sf.when(lambda it: it % 2 == 0, one.stage).otherwise(two.stage),
        lambda it: (two if it % 2 else one).outcomes(it),
    )


def looped(one: Drawn, at_most: int) -> Drawn:
    def outcomes(it: int) -> Possible:
        found: set[tuple[bool, int]] = set()
        rounds: Possible = yes(it)
        for count in range(at_most + 1):
            found |= {found_one for found_one in rounds if not found_one[0]}
            going = {value for is_success, value in rounds if is_success}
            found |= {(True, value) for value in going if value % 3 == 0}
            left = {value for value in going if value % 3}
            if count == at_most:
                found |= {(False, value) for value in left}
            rounds = frozenset(one_more for value in left for one_more in one.outcomes(value))
        return frozenset(found)

    def plain(error: int | sf.BoundReached[int]) -> int:
        return error if isinstance(error, int) else error.last

    looping = sf.given(int).loop_until(one.stage, lambda it: it % 3 == 0, at_most=at_most)
    return Drawn(looping.map_failure(plain), outcomes)


# --- side by side -----------------------------------------------------------------------------


def all_of(parts: list[Possible]) -> Possible:
    """The sum of all, or any of the failures."""
    return frozenset(one for together in product(*parts) for one in _all_of_these(list(together)))


def _all_of_these(together: list[tuple[bool, int]]) -> Iterator[tuple[bool, int]]:
    failures = [one for one in together if not one[0]]
    if failures:
        yield from failures
    else:
        yield (True, sum(value for _, value in together))


def added_up(numbers: tuple[int, ...]) -> int:
    return sum(numbers)


def side_by_side(parts: list[Drawn]) -> Drawn:
    return Drawn(
        sf.parallel_all([part.stage for part in parts]).map(added_up),
        lambda it: all_of([part.outcomes(it) for part in parts]),
    )


@sf.stage
def three_listed(number: int) -> list[int]:
    return [number, number + 1, number + 2]


def for_each(one: Drawn, limit: int) -> Drawn:
    return Drawn(
        three_listed.map_each(one.stage, limit=limit).map(added_up),
        lambda it: all_of([one.outcomes(item) for item in (it, it + 1, it + 2)]),
    )


def settled(one: Drawn, limit: int) -> Drawn:
    def weigh(outcomes: tuple[sf.Outcome[int, int], ...]) -> int:
        return sum(sf.fold(outcome, lambda it: it, lambda it: 2 * it) for outcome in outcomes)

    def outcomes(it: int) -> Possible:
        parts = [one.outcomes(item) for item in (it, it + 1, it + 2)]
        return frozenset(
            (True, sum(value if is_success else 2 * value for is_success, value in together))
            for together in product(*parts)
        )

    return Drawn(three_listed.settle_each(one.stage, limit=limit).map(weigh), outcomes)


def raced(one: Drawn, two: Drawn) -> Drawn:
    def outcomes(it: int) -> Possible:
        found: set[tuple[bool, int]] = set()
        for first, second in product(one.outcomes(it), two.outcomes(it)):
            winners = {racer for racer in (first, second) if racer[0]}
            found |= winners or {first}
        return frozenset(found)

    return Drawn(one.stage.race(two.stage), outcomes)


# --- inputs -----------------------------------------------------------------------------------


_names = itertools.count()


def asked() -> Drawn:
    """Asks for a number; whoever answers gives one more than that of the question."""
    asking = sf.await_input(int, name=f"input {next(_names)}", ask=str)
    return Drawn(sf.given(int).then(asking), lambda it: yes(it + 1))


@sf.tool(needs_approval=True, idempotent=True)
def increased(number: int) -> int:
    """Add one."""
    return number + 1


def said(request: sf.ModelRequest) -> sf.ModelReply:
    """Have the number of the prompt increased, and say what came of it: by the request alone."""
    first, last = request.messages[0], request.messages[-1]
    assert isinstance(first, sf.UserMessage)
    assert isinstance(first.content[0], sf.Text)
    number = int(first.content[0].text)
    if isinstance(last, sf.ToolMessage):
        return reply(str(number + 1))
    return reply(call(increased, {"number": number}))


def number_in(text: str) -> int:
    return int(text)


def minus_one(failed: sf.RunFailed) -> int:
    return -1


def asked_of_agent() -> Drawn:
    """Has an agent add one, which asks whether it may."""
    agent = sf.Agent(model=ScriptedModel([said] * 99), tools=[increased])
    asking = sf.given(int).then(agent.stage(str)).map(number_in).map_failure(minus_one)
    return Drawn(asking, lambda it: yes(it + 1))


numbers = st.integers(min_value=1, max_value=4)
leaves = st.builds(added, numbers) | st.builds(failing, numbers)


def composed(parts: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    return (
        st.builds(in_sequence, parts, parts)
        | st.builds(recovered, parts, parts)
        | st.builds(failure_mapped, parts, numbers)
        | st.builds(fallen_back, parts, parts)
        | st.builds(retried, parts, st.just(1))
        | st.builds(timed, parts)
        | st.builds(chosen, parts, parts)
        | st.builds(looped, parts, st.integers(min_value=1, max_value=2))
        | st.builds(side_by_side, st.lists(parts, max_size=3))
        | st.builds(for_each, parts, numbers)
        | st.builds(settled, parts, numbers)
        | st.builds(raced, parts, parts)
    )


pipelines = st.recursive(leaves, composed, max_leaves=5)
asking_pipelines = st.recursive(
    leaves | st.builds(asked) | st.builds(asked_of_agent), composed, max_leaves=4
)


@given(drawn=pipelines, start=st.integers(min_value=0, max_value=12), data=st.data())
def test_every_order_of_answers_leads_to_a_possible_outcome(
    drawn: Drawn, start: int, data: st.DataObject
) -> None:
    def choose(count: int) -> int:
        return data.draw(st.integers(min_value=0, max_value=count - 1))

    outcome = laws.pipeline_keeps_its_laws(drawn.stage, start, choose)

    told = sf.fold(outcome, lambda it: (True, it), lambda it: (False, it))
    assert told in drawn.outcomes(start)


@given(drawn=pipelines, start=st.integers(min_value=0, max_value=12))
def test_driven_runs_have_a_possible_outcome(drawn: Drawn, start: int) -> None:
    outcome = anyio.run(lambda: drawn.stage.run(start, clock=VirtualClock()))

    told = sf.fold(outcome, lambda it: (True, it), lambda it: (False, it))
    assert told in drawn.outcomes(start)


@given(
    one=pipelines,
    two=pipelines,
    three=pipelines,
    start=st.integers(min_value=0, max_value=12),
    number=numbers,
)
@settings(max_examples=40)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_stages_compose_lawfully(
    one: Drawn, two: Drawn, three: Drawn, start: int, number: int, backend: str
) -> None:
    together = in_sequence(in_sequence(one, two), three)
    assume(len(together.outcomes(start)) == 1)  # whatever comes first

    async def main() -> None:
        await laws.stages_compose(one.stage, two.stage, three.stage, start)
        await laws.mapping_fuses(one.stage, lambda it: it + number, lambda it: it * number, start)
        await laws.failures_skip(one.stage, start)

    anyio.run(main, backend=backend)


# --- in a store -------------------------------------------------------------------------------


Finished: TypeAlias = sf.PipelineRun[int, int]


async def ended(stage: Numbers, run: Finished, store: MemoryStore) -> tuple[bool, int]:
    """Answer whatever is asked, one input at a time, until the run ends."""
    while isinstance(run.end, sf.Suspended):
        first = run.end.open[0]
        answer: object = None
        match first:
            case sf.OpenInput():
                answer = int(first.question) + 1
            case sf.AgentAsks(request=sf.OpenApproval() as request):
                answer = sf.approve(request)
            case _:
                pytest.fail(str(first))
        run = await stage.resume("r", {first: answer}, journal=store)
    assert isinstance(run.end, sf.Finished)
    return sf.fold(run.end.outcome, lambda it: (True, it), lambda it: (False, it))


@given(drawn=asking_pipelines, start=st.integers(min_value=0, max_value=6), data=st.data())
def test_a_run_that_was_suspended_or_killed_anywhere_ends_as_if_it_was_not(
    drawn: Drawn, start: int, data: st.DataObject
) -> None:
    stage = sf.given(int).then(drawn.stage).idempotent()

    async def main() -> None:
        store = MemoryStore()
        run = await stage.start(start, journal=store, run_id="r", seed=0)
        assert await ended(stage, run, store) in drawn.outcomes(start)
        records = (await store.read("r")).unwrap().records
        kept = data.draw(st.integers(min_value=1, max_value=len(records)))
        left = MemoryStore()
        for version, record in enumerate(records[:kept]):
            await left.append("r", JournalRecord(record, 0, "running"), expected=version)
        again = await stage.resume("r", journal=left)
        assert await ended(stage, again, left) in drawn.outcomes(start)

    anyio.run(main)


# --- at work ----------------------------------------------------------------------------------


@final
class Desk:
    """Sees who begins and who has ended, whatever becomes of them."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.most = 0

    async def work(self, number: int, turns: int) -> None:
        """Work for so many turns of the event loop, and take one more to end."""
        self.begun.append(number)
        self.most = max(self.most, len(self.begun) - len(self.ended))
        try:
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                self.ended.append(number)

    @property
    def is_idle(self) -> bool:
        """Whether whoever has begun has ended."""
        return sorted(self.begun) == sorted(self.ended)


Task: TypeAlias = tuple[int, bool]
"""How many turns it takes, and whether it fails."""

tasks = st.lists(st.tuples(st.integers(min_value=0, max_value=6), st.booleans()), max_size=6)
backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def worker(desk: Desk, given_tasks: list[Task]) -> Numbers:
    async def work(number: int) -> sf.Outcome[int, int]:
        turns, fails = given_tasks[number]
        await desk.work(number, turns)
        return sf.Failure(number) if fails else sf.Success(number)

    return sf.stage(work)


def always(number: int) -> sf.Stage[int, int, Never]:
    def give(_: int) -> int:
        return number

    return sf.pure(give)


def then_idle(desk: Desk, idle: list[bool]) -> Callable[[object], None]:
    """Notes whether all had ended when anything went on."""
    return lambda _: idle.append(desk.is_idle)


@given(drawn=tasks, limit=st.integers(min_value=1, max_value=4))
@backends
def test_items_keep_their_order_and_their_bound(
    drawn: list[Task], limit: int, backend: str
) -> None:
    desk, idle = Desk(), list[bool]()
    listed = sf.given(int).map(lambda count: list(range(count)))
    each = listed.map_each(worker(desk, drawn), limit=limit)
    after = then_idle(desk, idle)
    watched = each.tap(after).map_failure(lambda number: (number, after(number))[0])

    outcome = anyio.run(lambda: watched.run(len(drawn)), backend=backend)

    failing = {number for number, (_, fails) in enumerate(drawn) if fails}
    assert desk.most <= limit
    assert idle == [True]
    match outcome:
        case sf.Success(values):
            assert not failing
            assert values == tuple(range(len(drawn)))
        case sf.Failure(number):
            assert number in failing


@given(drawn=tasks)
@backends
def test_siblings_of_a_failure_have_ended_before_anything_goes_on(
    drawn: list[Task], backend: str
) -> None:
    desk, idle = Desk(), list[bool]()
    stages = [always(number).then(worker(desk, drawn)) for number in range(len(drawn))]
    after = then_idle(desk, idle)
    watched = (
        sf.parallel_all(stages).tap(after).map_failure(lambda number: (number, after(number))[0])
    )

    outcome = anyio.run(lambda: watched.run(0), backend=backend)

    assert idle == [True]
    failing = {number for number, (_, fails) in enumerate(drawn) if fails}
    assert (
        outcome.unwrap() == tuple(range(len(drawn)))
        if not failing
        else (outcome.failure() in failing)
    )


@given(
    first=st.tuples(st.integers(min_value=0, max_value=6), st.booleans()),
    second=st.tuples(st.integers(min_value=0, max_value=6), st.booleans()),
)
@backends
def test_the_loser_of_a_race_has_ended_before_anything_goes_on(
    first: Task, second: Task, backend: str
) -> None:
    desk, idle = Desk(), list[bool]()
    racers = [always(number).then(worker(desk, [first, second])) for number in range(2)]
    after = then_idle(desk, idle)
    watched = racers[0].race(racers[1]).tap(after)
    watched = watched.map_failure(lambda number: (number, after(number))[0])

    outcome = anyio.run(lambda: watched.run(0), backend=backend)

    assert idle == [True]
    winners = {number for number, (_, fails) in enumerate((first, second)) if not fails}
    match outcome:
        case sf.Success(number):
            assert number in winners
        case sf.Failure(number):
            assert not winners
            assert number == 0  # that of the first one listed


@given(drawn=tasks, turns=st.integers(min_value=0, max_value=8), patient=st.booleans())
@backends
def test_a_run_that_is_cancelled_at_any_moment_leaves_nobody_at_work(
    drawn: list[Task], turns: int, patient: bool, backend: str
) -> None:
    desk, cancel = Desk(), sf.CancelHandle()
    listed = sf.given(int).map(lambda count: list(range(count)))
    pipeline = listed.settle_each(worker(desk, drawn), limit=2)

    async def call() -> None:
        for _ in range(turns):
            await anyio.lowlevel.checkpoint()
        cancel("enough", after_step=patient)

    async def main() -> object:
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            try:
                await pipeline.run(len(drawn), cancel=cancel)
            except sf.PipelineCancelled as ended:
                return ended.run.end
        return None

    end = anyio.run(main, backend=backend)

    assert desk.is_idle
    assert end in {None, sf.Cancelled("enough")}
    assert end is not None or len(desk.ended) == len(drawn)
