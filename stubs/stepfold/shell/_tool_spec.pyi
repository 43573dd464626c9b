from collections.abc import Callable, Mapping, Sequence
from typing import Never, final
from attrs import field, frozen
from stepfold.loop import Limits
from stepfold.shell._approval import NeedsApproval
from stepfold.values import JsonText, ToolOutput

def _tuple(given: Sequence[object]) -> tuple[object, ...]: ...

@final
@frozen(order=False, kw_only=True)
class ToolOptions:
    name: str | None = None
    description: str | None = None
    needs_approval: bool | NeedsApproval = False
    idempotent: bool = False
    timeout: float | None = None
    strict: bool | None = None
    examples: Sequence[object] = field(default=(), converter=_tuple)
    max_retries: int | None = None
    defer_loading: bool = False
    async_only: bool = False
    title: str | None = None
    metadata: Mapping[str, object] | None = None
    provider_options: Mapping[str, object] | None = None
    to_model_output: Callable[[Never], ToolOutput] | None = None
    describe: Callable[[Never], str] | None = None
    executes: bool = True
    grant: Limits | None = None
    calls: Sequence[object] = field(default=(), converter=_tuple)
    input_schema: JsonText | None = None
