"""`Limits`: the hard budgets of a run, as the user gives them."""

from typing import final

from attrs import field, frozen

from stepfold.loop._figures import OfTools, by_name, not_negative
from stepfold.values import UsageError


def _calls_by_name(given: OfTools[int]) -> tuple[tuple[str, int], ...]:
    return by_name("Limits.calls_of", given, not_negative)


@final
@frozen(order=False, kw_only=True)
class Limits:
    """The hard budgets of a run, held by the loop; `None` is no limit.

    `steps`, `tool_calls` and `calls_of` are never exceeded: they are reserved when a call is
    issued, to a tool here or to a client, in call order. `calls_of` is given as `{tool: count}`,
    or by names, and kept as pairs sorted by name. `tokens` and `cost` (in micro-units, by the
    prices that the program has) are exceeded by at most one reply's excess over its reservation. A
    reply without figures counts as all that it was allowed. A call over its own tool's limit is
    answered by an error; any other limit ends the run in `Stopped("limit-…")`, whose evidence is
    `{"reached":…,"limit":…}`. With `wrap_up_tokens`, one step and so many tokens, and what they
    cost, are kept back, within the limits, to ask for one last answer without tools.

    Raises:
        UsageError: a limit is negative, or there are two for one tool.
    """

    steps: int | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    calls_of: tuple[tuple[str, int], ...] = field(default=(), converter=_calls_by_name)
    wrap_up_tokens: int | None = None
    cost: int | None = None

    def __attrs_post_init__(self) -> None:
        not_negative("Limits.steps", self.steps)
        not_negative("Limits.tokens", self.tokens)
        not_negative("Limits.tool_calls", self.tool_calls)
        not_negative("Limits.wrap_up_tokens", self.wrap_up_tokens)
        if self.cost is not None and (type(self.cost) is not int or self.cost < 0):
            msg = (
                "Limits.cost: expected a whole number of micro-units that is not negative, got "
                f"{self.cost!r}; 2.50 are 2_500_000"
            )
            raise UsageError(msg)


NO_LIMITS = Limits()
"""No limit at all."""
