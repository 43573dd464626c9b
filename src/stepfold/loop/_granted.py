"""`Granted`: what a run may spend as the run of a tool call, and what holds where it was granted.

A run of a tool call keeps to what is left of that call's grant, which only the call knows. So that
its journal tells all that decided it, what it was granted is data: of its beginning, and of the
event by which another call takes it up. The program stays what it is, and so does its fingerprint.
"""

from collections.abc import Mapping
from typing import final

from attrs import frozen

from stepfold.loop._limits import Limits
from stepfold.loop._program import Program, require_prices
from stepfold.values import Price


@final
@frozen(order=False)
class Granted:
    """What a run may spend as the run of a tool call, from when it begins or is taken up.

    `limits` hold in the place of the program's, and are within them. `prices`, sorted by model, are
    those that the program has none of itself.
    """

    limits: Limits
    prices: tuple[tuple[str, Price], ...] = ()


def granted_to(program: Program, limits: Limits, prices: Mapping[str, Price]) -> Granted:
    """The grant of a run of this program: limits that it keeps to, and prices that it may need.

    Raises:
        UsageError: the cost is limited, and a model of the program has no price.
    """
    require_prices(limits, program.every_model, {**prices, **program.prices})
    lacking = sorted(prices.keys() - program.prices.keys())
    return Granted(limits, tuple((model, prices[model]) for model in lacking))


def limits_of(program: Program, granted: Granted | None) -> Limits:
    """The limits that hold in a run."""
    return program.limits if granted is None else granted.limits


def prices_of(program: Program, granted: Granted | None) -> Mapping[str, Price]:
    """The prices that are known in a run."""
    if granted is None or not granted.prices:
        return program.prices
    return {**dict(granted.prices), **program.prices}
