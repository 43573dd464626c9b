from typing import final
from attrs import frozen
from stepfold.values._usage import Usage

@final
@frozen(order=False, kw_only=True)
class Price:
    input: int
    output: int
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    def __attrs_post_init__(self) -> None: ...
    def cost_of(self, usage: Usage) -> int | None: ...
    def cost_at_most(self, input_tokens: int, output_tokens: int) -> int: ...
    def output_within(self, micro_units: int, input_tokens: int) -> int | None: ...
    @property
    def dearest_input(self) -> int: ...
    @property
    def dearest_output(self) -> int: ...
