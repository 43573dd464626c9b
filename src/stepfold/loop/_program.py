"""`Program`: what the user configured, as code. Never serialised; compared by identity."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, final, get_args

from attrs import field, frozen

from stepfold.loop._figures import not_negative
from stepfold.loop._limits import NO_LIMITS, Limits
from stepfold.loop._order import offered
from stepfold.loop._signing import ApprovalSecret, secret_of
from stepfold.loop._stop import SECOND, StopCondition, condition_name, is_step_count
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
    NamedTool,
    NoOutput,
    Outcome,
    Price,
    ProviderTool,
    Success,
    ToolChoice,
    ToolDefinition,
    UsageError,
    dump_json,
)

RULES = 1
"""The version of what `step` decides. A change of it is a change of this number."""

Check: TypeAlias = Callable[[object], tuple[SchemaFault, ...]]
"""The structural decoder of a tool's input: what is wrong with a parsed document, if anything."""


_KINDS: tuple[ModelErrorKind, ...] = get_args(ModelErrorKind)


def _kinds(given: Iterable[ModelErrorKind]) -> tuple[ModelErrorKind, ...]:
    """The kinds that are given, in the order of their declaration."""
    wanted = {given} if isinstance(given, str) else set(given)
    for unknown in wanted.difference(_KINDS):
        msg = (
            f"RetryPolicy.fallback_on: expected kinds of model errors ({', '.join(_KINDS)}), got "
            f"{unknown!r}"
        )
        raise UsageError(msg)
    return tuple(kind for kind in _KINDS if kind in wanted)


@final
@frozen(order=False, kw_only=True)
class RetryPolicy:
    """When and how often a failed model call is made again. Times are in seconds.

    The pause before retry n is `initial_delay * factor**(n-1)`, at most `max_delay`, made longer
    or shorter by up to `jitter` of itself (drawn from the run's seed). What the server asks for
    in `retry-after` is kept exactly; if that is over `max_retry_after`, no retry is made.

    A failure that leaves no retry, or allows none, falls over to the next model at once, if it is
    of a kind in `fallback_on`: all are by default. Attempts count for each model anew. A call is
    made again as a whole, also where part of the reply had come; no tool is ever run again for it.

    Raises:
        UsageError: a figure is negative or not finite, the jitter over 1, or a kind is not known.
    """

    max_retries: int = 2
    initial_delay: float = 2.0
    factor: float = 2.0
    max_delay: float = 60.0
    jitter: float = 0.25
    max_retry_after: float = 60.0
    fallback_on: tuple[ModelErrorKind, ...] = field(default=_KINDS, converter=_kinds)

    def __attrs_post_init__(self) -> None:
        not_negative("RetryPolicy.max_retries", self.max_retries)
        not_negative("RetryPolicy.initial_delay", self.initial_delay)
        not_negative("RetryPolicy.factor", self.factor)
        not_negative("RetryPolicy.max_delay", self.max_delay)
        not_negative("RetryPolicy.jitter", self.jitter)
        not_negative("RetryPolicy.max_retry_after", self.max_retry_after)
        if self.jitter > 1:
            msg = f"RetryPolicy.jitter: expected a share between 0 and 1, got {self.jitter!r}"
            raise UsageError(msg)


@final
@frozen(eq=False, kw_only=True)
class ToolSpec:
    """A tool as the loop sees it: everything but the code.

    `executes` is false for a tool that a client runs; `approval` tells who must agree: nobody, a
    person (`always`), or a policy that is asked for each call. `binds` asks the shell to build
    the arguments before anything runs, for tools whose types have validators of their own;
    `refines` asks it to let the refine hook change them, too. After more than `max_retries` errors
    in a row the run stops; `None` is no limit. A tool with `defer_loading` is hidden until a search
    has found it. `timeout` is in nanoseconds. `title`, `metadata` and `dynamic` go onto the parts
    of its calls; no model is told them. Two kinds of calls the loop answers itself, of tools that
    execute nowhere: `searches` is for a search among the hidden tools, with so many results at
    most; `is_output` is true for the tool by which a model gives the output. A tool that begins
    runs of its own has a `grant`: the most that a call of it may take for them of what the run has
    left.
    """

    definition: ToolDefinition
    check: Check = field(repr=False)
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
    def name(self) -> str:
        """The name that the model knows."""
        return self.definition.name

    @property
    def is_marked(self) -> bool:
        """Whether something of it goes onto the parts of its calls."""
        return self.dynamic or self.title is not None or self.metadata is not None


def _figures_of(limits: Limits) -> list[object]:
    return [
        limits.steps,
        limits.tokens,
        limits.tool_calls,
        [list(pair) for pair in limits.calls_of],
        limits.wrap_up_tokens,
        limits.cost,
    ]


@final
@frozen(eq=False)
class OutputSpec:
    """What the run's final answer has to be: `check` gives its JSON form, or says what is wrong.

    `check` runs inside the loop, so it is total and calls no code of the user's. With `binds` the
    shell is asked to build the output with the type's own validators before the run completes. An
    answer that is refused is sent back up to `retries` times.

    The model is asked in one of three ways: by a response `format`; by a `tool` of the program,
    whose arguments are then what is checked; or by `instructions` that follow those of the program.
    Or the output is not the model's at all: `result_of` names a tool of the program, and what a
    call of it has given, once it has run, is the output.
    """

    name: str
    check: Callable[[str], Outcome[JsonText, NoOutput]] = field(repr=False)
    format: JsonFormat | None = None
    binds: bool = field(default=False, kw_only=True)
    retries: int = field(default=0, kw_only=True)
    tool: str | None = field(default=None, kw_only=True)
    instructions: str = field(default="", kw_only=True)
    result_of: str | None = field(default=None, kw_only=True)

    @property
    def needs_call(self) -> str | None:
        """The tool without whose call there is no output, if there is one."""
        return self.result_of if self.tool is None else self.tool


def _any_text(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText.of(text))


TEXT_OUTPUT = OutputSpec("text", _any_text)
"""The output is the final text, whatever it is."""


def _tool_table(tools: Mapping[str, ToolSpec]) -> Mapping[str, ToolSpec]:
    return MappingProxyType(dict(tools))


def _provider_tool_table(tools: Mapping[str, ProviderTool]) -> Mapping[str, ProviderTool]:
    return MappingProxyType(dict(tools))


def _price_table(prices: Mapping[str, Price]) -> Mapping[str, Price]:
    return MappingProxyType(dict(prices))


def require_prices(limits: Limits, models: Iterable[str], prices: Mapping[str, Price]) -> None:
    """Refuse a limit of the cost where a model has no price.

    Raises:
        UsageError: one has none; the text names it.
    """
    for model in models if limits.cost is not None else ():
        if model not in prices:
            msg = (
                f"Limits.cost: expected the price of each model, got none of {model!r}: give "
                f"prices={{{model!r}: Price(input=…, output=…)}}"
            )
            raise UsageError(msg)


@final
@frozen(eq=False, kw_only=True)
class Program:
    """Everything that decides a run, but its history and the world.

    `models` are names (`provider/model_id`): in each step the first is asked, or the one that a
    plan names; if it cannot answer, the others follow in their order. `step_models` are names that
    only a plan asks for.
    `provider_tools` are run by the provider; all tools together have a name each.
    `active_tools` are those that a model is told of, by default all; with a `tool_order`, the tools
    that it lists come first and the others after them, sorted by name. A plan may say otherwise for
    its step.
    `prepares`, `repairs` and `checks_stop` tell that the shell has hooks which the loop must ask
    by `PrepareStep`, `RepairCall` and `CheckStop`. `prices` says what tokens cost, by names of
    models; it may hold more than the program asks. What a model without a price costs is unknown.
    With `instructions_options`, provider options of their own, instructions go before the prompt
    as a system message, those of a plan too.
    With a `tool_approval_secret` (text or bytes) requests for approval are signed, and of those in
    a history only signed ones count.

    Raises:
        UsageError: no model, two tools of one name, a choice or a limit that names no tool, a stop
            condition that is none, a limit of the cost without the price of each model, a secret
            that is empty or neither text nor bytes.
    """

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
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    allow_system_messages: bool = False
    prepares: bool = False
    repairs: bool = False
    checks_stop: bool = False
    tool_approval_secret: ApprovalSecret | None = field(default=None, converter=secret_of)
    version: str = ""

    def __attrs_post_init__(self) -> None:
        if not self.models:
            msg = "Program.models: expected at least one name of a model, got none"
            raise UsageError(msg)
        known = ", ".join(self.tools) or "none"
        for name in self.provider_tools:
            if name in self.tools:
                msg = f"tools: expected one tool of each name, got two of {name!r}"
                raise UsageError(msg)
        if self.defers_loading and self.search_tool is None:
            hidden = next(name for name, tool in self.tools.items() if tool.defer_loading)
            msg = (
                f"tools: expected a tool_search, since {hidden} has defer_loading and nothing else "
                "could find it, got none: add tool_search()"
            )
            raise UsageError(msg)
        for option, names in (("active_tools", self.active_tools), ("tool_order", self.tool_order)):
            for name in names or ():
                if name not in self.tool_names:
                    every = ", ".join(self.tool_names) or "none"
                    msg = f"{option}: expected names of tools ({every}), got {name!r}"
                    raise UsageError(msg)
        active = (*self.offered, *self.offered_provider_tools)
        match self.tool_choice:
            case NamedTool(name) if name in self.tools and self.tools[name].defer_loading:
                msg = f"tool_choice: expected a tool that is there from the start, got {name!r}"
                raise UsageError(msg)
            case NamedTool(name) if name not in active:
                every = ", ".join(active) or "none"
                msg = f"tool_choice: expected one of the tools ({every}), got {name!r}"
                raise UsageError(msg)
            case "required" if not active:
                msg = "tool_choice: 'required' needs at least one tool, got none"
                raise UsageError(msg)
            case _:
                pass
        for name, _ in self.limits.calls_of:
            if name not in self.tools:
                msg = f"Limits.calls_of: expected one of the tools ({known}), got {name!r}"
                raise UsageError(msg)
        for name, _ in self.timeouts.tools:
            if name not in self.tools:
                msg = f"Timeouts.tools: expected one of the tools ({known}), got {name!r}"
                raise UsageError(msg)
        giving = next((name for name, tool in self.tools.items() if tool.is_output), None)
        if giving != self.output.tool:
            msg = (
                f"Program.output: expected the tool {self.output.tool!r} among the tools, marked "
                f"is_output, and no other, got {giving!r}"
            )
            raise UsageError(msg)
        result_of = self.output.result_of
        if result_of is not None and (result_of not in self.tools or giving is not None):
            msg = (
                f"Program.output: expected the tool {result_of!r}, whose result is the output, "
                f"among the tools ({known}), and none marked is_output, got {giving or 'none'!r}: "
                "add it to the tools"
            )
            raise UsageError(msg)
        require_prices(self.limits, self.every_model, self.prices)
        condition: object = self.stop_when
        if not callable(condition):
            msg = f"stop_when: expected a function of Progress, got {condition!r}"
            raise UsageError(msg)

    @property
    def every_model(self) -> tuple[str, ...]:
        """The names of all models that the run may ask."""
        return (*self.models, *self.step_models)

    def timeout_of(self, tool: ToolSpec) -> int | None:
        """How long a call of this tool may take, in nanoseconds; `None` is no limit."""
        timeouts = self.timeouts
        if timeouts is NO_TIMEOUTS:
            return tool.timeout
        seconds = dict(timeouts.tools).get(tool.name)
        if seconds is None:
            if tool.timeout is not None or timeouts.tool is None:
                return tool.timeout
            seconds = timeouts.tool
        return int(seconds * SECOND)

    @cached_property
    def tool_names(self) -> tuple[str, ...]:
        """The names of all tools: those that are run here or by a client, then the provider's."""
        return (*self.tools, *self.provider_tools)

    def offer(
        self, active: tuple[str, ...] | None, order: tuple[str, ...] | None
    ) -> Mapping[str, ToolSpec]:
        """The active tools in an order; that by which a model gives the output is always active."""
        giving = self.output.needs_call
        if active is not None and giving is not None and giving not in active:
            active += (giving,)
        return offered(self.tools, active, order)

    @cached_property
    def offered(self) -> Mapping[str, ToolSpec]:
        """The tools that a model is told of where no plan says otherwise, in their order."""
        return self.offer(self.active_tools, self.tool_order)

    @cached_property
    def offered_provider_tools(self) -> Mapping[str, ProviderTool]:
        """The provider's own tools that a model is told of, in their order."""
        return offered(self.provider_tools, self.active_tools, self.tool_order)

    @cached_property
    def max_retries(self) -> Mapping[str, int]:
        """The tools whose errors in a row are limited, and how many of them are borne."""
        return {
            name: tool.max_retries
            for name, tool in self.tools.items()
            if tool.max_retries is not None
        }

    @cached_property
    def search_tool(self) -> str | None:
        """The tool that finds hidden ones, if there are any."""
        return next((name for name, tool in self.tools.items() if tool.searches is not None), None)

    @cached_property
    def defers_loading(self) -> bool:
        """Whether there are tools that are hidden until a search finds them."""
        return any(tool.defer_loading for tool in self.tools.values())

    @cached_property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools as a model is told of them, in their order."""
        return tuple(tool.definition for tool in self.offered.values())

    @cached_property
    def client_tools(self) -> frozenset[str]:
        """The names of the tools that a client runs."""
        return frozenset(name for name, tool in self.tools.items() if not tool.executes)

    @cached_property
    def marked_tools(self) -> Mapping[str, ToolSpec]:
        """The tools of which something goes onto the parts of their calls."""
        return {name: tool for name, tool in self.tools.items() if tool.is_marked}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what decides a run and can be written down; no code, no secrets."""
        return hashlib.sha256(dump_json(self._outline()).encode()).hexdigest()

    def _output_outline(self) -> tuple[object, ...]:
        """What decides about an output beside its schema; nothing for the simplest one."""
        output = self.output
        extra = (output.binds, output.retries, output.tool, output.instructions)
        result_of = () if output.result_of is None else (["result_of", output.result_of],)
        return (*extra, *result_of) if any(extra) or result_of else ()

    def _outline(self) -> dict[str, object]:
        limits, retry, timeouts = self.limits, self.retry, self.timeouts
        choice = self.tool_choice
        output = self.output.format
        outline: dict[str, object] = {
            "models": list(self.models),
            "tools": [
                [
                    tool.name,
                    tool.definition.input_schema.text,
                    tool.executes,
                    tool.approval,
                    tool.binds,
                    tool.idempotent,
                    tool.timeout,
                    None if tool.grant is None else _figures_of(tool.grant),
                    *(["refines"] if tool.refines else []),
                    *([["retries", tool.max_retries]] if tool.max_retries is not None else []),
                    *(["deferred"] if tool.defer_loading else []),
                    *([["searches", tool.searches]] if tool.searches is not None else []),
                ]
                for tool in self.tools.values()
            ],
            "tool_choice": choice if isinstance(choice, str) else [choice.tool_name],
            "output": [
                self.output.name,
                None if output is None or output.schema is None else output.schema.text,
                *self._output_outline(),
            ],
            "stop_when": condition_name(self.stop_when),
            "limits": _figures_of(limits),
            "prices": [
                [model, price.input, price.output, price.cache_read, price.cache_write]
                + [price.reasoning]
                for model in self.every_model
                if (price := self.prices.get(model)) is not None
            ],
            "retry": [
                retry.max_retries,
                retry.initial_delay,
                retry.factor,
                retry.max_delay,
                retry.jitter,
                retry.max_retry_after,
                list(retry.fallback_on),
            ],
            "timeouts": [
                timeouts.total,
                timeouts.step,
                timeouts.first_chunk,
                timeouts.chunk,
                timeouts.tool,
                [list(pair) for pair in timeouts.tools],
            ],
            "hooks": [self.prepares, self.repairs, self.checks_stop],
            "bounds": [self.bounds.length, self.bounds.depth, self.bounds.digits],
            "version": self.version,
        }
        if self.step_models:
            outline["step_models"] = list(self.step_models)
        if self.active_tools is not None:
            outline["active_tools"] = sorted(set(self.active_tools))
        if self.marked_tools:
            outline["marked_tools"] = [
                [tool.name, tool.title, None if data is None else data.text, tool.dynamic]
                for tool in self.marked_tools.values()
                for data in (tool.metadata,)
            ]
        if self.provider_tools:
            outline["provider_tools"] = [
                [tool.id, tool.name, tool.args.text, tool.supports_deferred_results]
                for tool in self.provider_tools.values()
            ]
        return outline
