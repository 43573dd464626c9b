"""Token counts: a commutative monoid in which unknown is not zero."""

from typing import final

from attrs import field, frozen


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None:
        return right
    return left if right is None else left + right


def _difference(left: int | None, right: int | None) -> int | None:
    return None if left is None else left - (right or 0)


@final
@frozen(order=False)
class InputTokenDetails:
    """How the input was made up; `None` is unknown."""

    no_cache_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None

    def __add__(self, other: "InputTokenDetails") -> "InputTokenDetails":
        if other is NO_INPUT_DETAILS:
            return self
        if self is NO_INPUT_DETAILS:
            return other
        return InputTokenDetails(
            _sum(self.no_cache_tokens, other.no_cache_tokens),
            _sum(self.cache_read_tokens, other.cache_read_tokens),
            _sum(self.cache_write_tokens, other.cache_write_tokens),
        )

    def __sub__(self, other: "InputTokenDetails") -> "InputTokenDetails":
        return InputTokenDetails(
            _difference(self.no_cache_tokens, other.no_cache_tokens),
            _difference(self.cache_read_tokens, other.cache_read_tokens),
            _difference(self.cache_write_tokens, other.cache_write_tokens),
        )


@final
@frozen(order=False)
class OutputTokenDetails:
    """How the output was made up; `None` is unknown."""

    text_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __add__(self, other: "OutputTokenDetails") -> "OutputTokenDetails":
        if other is NO_OUTPUT_DETAILS:
            return self
        if self is NO_OUTPUT_DETAILS:
            return other
        return OutputTokenDetails(
            _sum(self.text_tokens, other.text_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
        )

    def __sub__(self, other: "OutputTokenDetails") -> "OutputTokenDetails":
        return OutputTokenDetails(
            _difference(self.text_tokens, other.text_tokens),
            _difference(self.reasoning_tokens, other.reasoning_tokens),
        )


NO_INPUT_DETAILS = InputTokenDetails()
"""Nothing is known of the input."""
NO_OUTPUT_DETAILS = OutputTokenDetails()
"""Nothing is known of the output."""


@final
@frozen(order=False)
class Usage:
    """Tokens spent. `input_tokens` includes what was read from and written to a cache.

    `a + b` adds figure by figure; an unknown one (`None`) counts as nothing beside a known one
    and stays unknown beside another. `Usage()` is the unit. Within one reply a provider's later
    figure replaces its earlier one; only whole replies are added. `total - part` is what was added
    to the part, where that is known.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    input_token_details: InputTokenDetails = field(default=NO_INPUT_DETAILS, kw_only=True)
    output_token_details: OutputTokenDetails = field(default=NO_OUTPUT_DETAILS, kw_only=True)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            input_token_details=self.input_token_details + other.input_token_details,
            output_token_details=self.output_token_details + other.output_token_details,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(
            _difference(self.input_tokens, other.input_tokens),
            _difference(self.output_tokens, other.output_tokens),
            input_token_details=self.input_token_details - other.input_token_details,
            output_token_details=self.output_token_details - other.output_token_details,
        )

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; unknown only if both are."""
        return _sum(self.input_tokens, self.output_tokens)


NO_USAGE = Usage()
"""Nothing is known: the unit of addition."""
