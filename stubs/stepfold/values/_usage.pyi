from typing import final
from attrs import field, frozen

@final
@frozen(order=False)
class InputTokenDetails:
    no_cache_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None

    def __add__(self, other: "InputTokenDetails") -> "InputTokenDetails": ...
    def __sub__(self, other: "InputTokenDetails") -> "InputTokenDetails": ...

@final
@frozen(order=False)
class OutputTokenDetails:
    text_tokens: int | None = None
    reasoning_tokens: int | None = None

    def __add__(self, other: "OutputTokenDetails") -> "OutputTokenDetails": ...
    def __sub__(self, other: "OutputTokenDetails") -> "OutputTokenDetails": ...

NO_INPUT_DETAILS = InputTokenDetails()
NO_OUTPUT_DETAILS = OutputTokenDetails()

@final
@frozen(order=False)
class Usage:
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_token_details: InputTokenDetails = field(default=NO_INPUT_DETAILS, kw_only=True)
    output_token_details: OutputTokenDetails = field(default=NO_OUTPUT_DETAILS, kw_only=True)

    def __add__(self, other: "Usage") -> "Usage": ...
    def __sub__(self, other: "Usage") -> "Usage": ...
    @property
    def total_tokens(self) -> int | None: ...

NO_USAGE = Usage()
