"""Laws of stop conditions: purity, reasons, monotony, and the algebra that they form."""

from collections.abc import Iterable

from stepfold.loop import Progress, StopCondition, all_of, always, any_of, negate, never
from stepfold.testing.laws._equal import require, require_equal
from stepfold.values import Stop


def condition_is_pure(condition: StopCondition, progress: Progress) -> None:
    """Law 10: a stop condition gives the same answer to the same question, a `Stop` or `None`."""
    first = condition(progress)
    require(
        first is None or type(first) is Stop,
        f"a stop condition answered {first!r:.200}, neither a Stop nor None",
    )
    require_equal(condition(progress), first, "a stop condition gave two answers to one question")
    require(first is None or first.name, "a stop condition gave a reason without a name")


def condition_is_monotone(condition: StopCondition, longer: Progress) -> None:
    """Law 10: once it stops, it stops for every longer run.

    The shorter runs are those that had come to `longer`, as far as its steps and usage tell.
    Conditions that are not monotone (a negated one, one that looks at the last step) say so.
    """
    if condition(longer) is not None:
        return
    for shorter in shorter_runs(longer):
        stop = condition(shorter)
        require(
            stop is None,
            f"stopped after {len(shorter.steps)} steps ({stop}), not after {len(longer.steps)}",
        )


def shorter_runs(progress: Progress) -> Iterable[Progress]:
    """The progress after each earlier step, shortest first.

    Usage and counted calls are those of the steps, so `progress` has to be counted so as well.
    """
    for count in range(1, len(progress.steps)):
        yield progress_of(progress, count)


def progress_of(progress: Progress, count: int) -> Progress:
    """The progress of the same run after its first `count` steps."""
    steps = progress.steps[:count]
    usage = sum((step.usage for step in steps), type(progress.usage)())
    names = [call.tool_name for step in steps for call in step.tool_calls]
    called = tuple((name, names.count(name)) for name in sorted(set(names)))
    costs = [step.cost for step in steps if step.cost is not None]
    cost = sum(costs) if len(costs) == len(steps) else None
    later = sum(step.performance.step_time for step in progress.steps[count:])
    now = max(progress.started, progress.now - later)
    return Progress(steps, usage, now, progress.started, called, cost=cost)


def conditions_form_an_algebra(
    first: StopCondition, second: StopCondition, third: StopCondition, progress: Progress
) -> None:
    """Law 10: as to whether they stop, `any_of`, `all_of` and `negate` are or, and, not.

    Units are `never` and `always`. The reason is that of the first that fires, in order.
    """

    def holds(condition: StopCondition) -> bool:
        return condition(progress) is not None

    a, b, c = map(holds, (first, second, third))
    equations: tuple[tuple[str, StopCondition, bool], ...] = (
        ("any_of(a, b)", any_of(first, second), a or b),
        ("any_of(b, a)", any_of(second, first), a or b),
        ("all_of(a, b)", all_of(first, second), a and b),
        ("all_of(b, a)", all_of(second, first), a and b),
        ("negate(a)", negate(first), not a),
        ("negate(negate(a))", negate(negate(first)), a),
        ("any_of(a, any_of(b, c))", any_of(first, any_of(second, third)), a or b or c),
        ("any_of(any_of(a, b), c)", any_of(any_of(first, second), third), a or b or c),
        ("all_of(a, all_of(b, c))", all_of(first, all_of(second, third)), a and b and c),
        ("all_of(all_of(a, b), c)", all_of(all_of(first, second), third), a and b and c),
        ("any_of(a, never)", any_of(first, never), a),
        ("all_of(a, always)", all_of(first, always), a),
        ("all_of(a, never)", all_of(first, never), False),
        ("any_of(a, always)", any_of(first, always), True),
        ("any_of(a, negate(a))", any_of(first, negate(first)), True),
        ("all_of(a, negate(a))", all_of(first, negate(first)), False),
        ("all_of(a, any_of(b, c))", all_of(first, any_of(second, third)), a and (b or c)),
        ("any_of(a, all_of(b, c))", any_of(first, all_of(second, third)), a or (b and c)),
        ("negate(any_of(a, b))", negate(any_of(first, second)), not (a or b)),
        ("negate(all_of(a, b))", negate(all_of(first, second)), not (a and b)),
    )
    for text, condition, expected in equations:
        require_equal(holds(condition), expected, f"{text}, with a={a}, b={b}, c={c}")
    asked = (first(progress), second(progress))
    fired = [stop for stop in asked if stop is not None]
    if fired:
        require_equal(
            any_of(first, second)(progress), fired[0], "the reason is not that of the first"
        )
    if a and b:
        require_equal(
            all_of(first, second)(progress), fired[0], "the reason is not that of the first"
        )
