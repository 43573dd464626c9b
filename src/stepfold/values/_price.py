"""What tokens cost: whole micro-units of a currency, so that sums are exact in any order."""

from typing import final

from attrs import frozen

from stepfold.values._errors import UsageError
from stepfold.values._usage import Usage

_MILLION = 1_000_000


@final
@frozen(order=False, kw_only=True)
class Price:
    """What a model's tokens cost, in micro-units of a currency per million tokens.

    2.50 dollars per million tokens are `2_500_000`. `cache_read` and `cache_write` are for input
    that came from a cache or went into one, and are `input` where they are `None`; `reasoning`
    is for output that was thought and not said, and is `output` where it is `None`.

    Raises:
        UsageError: a figure is negative, or no whole number.
    """

    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    def __attrs_post_init__(self) -> None:
        _require_micro_units("Price.input", self.input)
        _require_micro_units("Price.output", self.output)
        for name, figure in (
            ("Price.cache_read", self.cache_read),
            ("Price.cache_write", self.cache_write),
            ("Price.reasoning", self.reasoning),
        ):
            if figure is not None:
                _require_micro_units(name, figure)

    def cost_of(self, usage: Usage) -> int | None:
        """Give what one reply cost, in micro-units, rounded up; `None` where that is unknown.

        It is unknown where the tokens are that have a price. Input of which no cache told is
        plain input, and output of which nothing else was told was said.
        """
        given = self._input_cost(usage)
        said = self._output_cost(usage)
        if given is None or said is None:
            return None
        return -(-(given + said) // _MILLION)

    def cost_at_most(self, input_tokens: int, output_tokens: int) -> int:
        """Give what so many tokens may cost, in micro-units, rounded up, whatever their kind."""
        total = input_tokens * self.dearest_input + output_tokens * self.dearest_output
        return -(-total // _MILLION)

    def output_within(self, micro_units: int, input_tokens: int) -> int | None:
        """Give how many tokens of output so much buys, after so many of the input were paid.

        `None` is any number, since they cost nothing. Below nothing there is no room for any.
        """
        if micro_units < 0:
            return 0
        if not self.dearest_input and not self.dearest_output:
            return None
        left = micro_units * _MILLION - input_tokens * self.dearest_input
        if left <= 0:
            return 0
        return left // self.dearest_output if self.dearest_output else None

    @property
    def dearest_input(self) -> int:
        """The highest price that a token of the input may have."""
        return max(self.input, self.cache_read or 0, self.cache_write or 0)

    @property
    def dearest_output(self) -> int:
        """The highest price that a token of the output may have."""
        return max(self.output, self.reasoning or 0)

    def _input_cost(self, usage: Usage) -> int | None:
        if usage.input_tokens is None:
            return None if self.dearest_input else 0
        details = usage.input_token_details
        read, written = details.cache_read_tokens or 0, details.cache_write_tokens or 0
        plain = max(0, usage.input_tokens - read - written)
        return (
            plain * self.input
            + read * (self.input if self.cache_read is None else self.cache_read)
            + written * (self.input if self.cache_write is None else self.cache_write)
        )

    def _output_cost(self, usage: Usage) -> int | None:
        if usage.output_tokens is None:
            return None if self.dearest_output else 0
        thought = usage.output_token_details.reasoning_tokens or 0
        said = max(0, usage.output_tokens - thought)
        return said * self.output + thought * (
            self.output if self.reasoning is None else self.reasoning
        )


def _require_micro_units(name: str, given: object) -> None:
    if type(given) is not int or given < 0:
        msg = (
            f"{name}: expected a whole number of micro-units that is not negative, got {given!r}"
            "; 2.50 per million tokens are 2_500_000"
        )
        raise UsageError(msg)
