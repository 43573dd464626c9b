from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Literal, TypeAlias, final
from attrs import field, frozen
from stepfold.loop._limits import NO_LIMITS, Limits
from stepfold.loop._signing import ApprovalSecret, secret_of
from stepfold.loop._stop import StopCondition, is_step_count
from stepfold.loop._timeouts import NO_TIMEOUTS, Timeouts
from stepfold.schema import SchemaFault
from stepfold.values import (
    DEFAULT_BOUNDS,
    NO_SETTINGS,
    CallSettings,
    JsonBounds,
    JsonFormat,
    JsonText,
    ModelErrorKind,
    NoOutput,
    Outcome,
    Price,
    ProviderTool,
    ToolChoice,
    ToolDefinition,
)

RULES = 1
Check: TypeAlias = Callable[[object], tuple[SchemaFault, ...]]
_KINDS: tuple[ModelErrorKind, ...] = ...

def _kinds(given: Iterable[ModelErrorKind]) -> tuple[ModelErrorKind, ...]: ...

@final
@frozen(order=False, kw_only=True)
class RetryPolicy:
    max_retries: int = 2
    initial_delay: float = 2.0
    factor: float = 2.0
    max_delay: float = 60.0
    jitter: float = 0.25
    max_retry_after: float = 60.0
    fallback_on: tuple[ModelErrorKind, ...] = field(default=_KINDS, converter=_kinds)

    def __attrs_post_init__(self) -> None: ...

@final
@frozen(eq=False, kw_only=True)
class ToolSpec:
    definition: ToolDefinition
    check: Check = field()
    executes: bool = True
    title: str | None = None
    metadata: JsonText | None = None
    dynamic: bool = False
    approval: Literal["never", "always", "policy"] = "never"
    binds: bool = False
    refines: bool = False
    idempotent: bool = False
    max_retries: int | None = None
    defer_loading: bool = False
    searches: int | None = None
    timeout: int | None = None
    is_output: bool = False
    grant: Limits | None = None

    @property
    def name(self) -> str: ...
    @property
    def is_marked(self) -> bool: ...

@final
@frozen(eq=False)
class OutputSpec:
    name: str
    check: Callable[[str], Outcome[JsonText, NoOutput]] = field()
    format: JsonFormat | None = None
    binds: bool = field(default=False, kw_only=True)
    retries: int = field(default=0, kw_only=True)
    tool: str | None = field(default=None, kw_only=True)
    instructions: str = field(default="", kw_only=True)
    result_of: str | None = field(default=None, kw_only=True)

    @property
    def needs_call(self) -> str | None: ...

def _any_text(text: str) -> Outcome[JsonText, NoOutput]: ...

TEXT_OUTPUT = OutputSpec("text", _any_text)

def _tool_table(tools: Mapping[str, ToolSpec]) -> Mapping[str, ToolSpec]: ...
def _provider_tool_table(tools: Mapping[str, ProviderTool]) -> Mapping[str, ProviderTool]: ...
def _price_table(prices: Mapping[str, Price]) -> Mapping[str, Price]: ...

@final
@frozen(eq=False, kw_only=True)
class Program:
    models: tuple[str, ...]
    step_models: tuple[str, ...] = ()
    tools: Mapping[str, ToolSpec] = field(factory=dict[str, ToolSpec], converter=_tool_table)
    provider_tools: Mapping[str, ProviderTool] = field(
        factory=dict[str, ProviderTool], converter=_provider_tool_table
    )
    instructions: str = ""
    instructions_options: JsonText | None = None
    settings: CallSettings = NO_SETTINGS
    tool_choice: ToolChoice = "auto"
    active_tools: tuple[str, ...] | None = None
    tool_order: tuple[str, ...] | None = None
    output: OutputSpec = TEXT_OUTPUT
    stop_when: StopCondition = field(factory=lambda: is_step_count(20))
    limits: Limits = NO_LIMITS
    prices: Mapping[str, Price] = field(factory=dict[str, Price], converter=_price_table)
    retry: RetryPolicy = RetryPolicy()
    timeouts: Timeouts = NO_TIMEOUTS
    bounds: JsonBounds = DEFAULT_BOUNDS
    provider_options: JsonText | None = None
    headers: tuple[tuple[str, str], ...] = field(default=())
    allow_system_messages: bool = False
    prepares: bool = False
    repairs: bool = False
    checks_stop: bool = False
    tool_approval_secret: ApprovalSecret | None = field(default=None, converter=secret_of)
    version: str = ""

    def __attrs_post_init__(self) -> None: ...
    @property
    def every_model(self) -> tuple[str, ...]: ...
    def timeout_of(self, tool: ToolSpec) -> int | None: ...
    @cached_property
    def tool_names(self) -> tuple[str, ...]: ...
    def offer(
        self, active: tuple[str, ...] | None, order: tuple[str, ...] | None
    ) -> Mapping[str, ToolSpec]: ...
    @cached_property
    def offered(self) -> Mapping[str, ToolSpec]: ...
    @cached_property
    def offered_provider_tools(self) -> Mapping[str, ProviderTool]: ...
    @cached_property
    def max_retries(self) -> Mapping[str, int]: ...
    @cached_property
    def search_tool(self) -> str | None: ...
    @cached_property
    def defers_loading(self) -> bool: ...
    @cached_property
    def definitions(self) -> tuple[ToolDefinition, ...]: ...
    @cached_property
    def client_tools(self) -> frozenset[str]: ...
    @cached_property
    def marked_tools(self) -> Mapping[str, ToolSpec]: ...
    @cached_property
    def fingerprint(self) -> str: ...
