"""`Program`: what the user configured, as code. Never serialised; compared by identity."""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Literal, Protocol, TypeAlias, final, runtime_checkable

from attrs import field, frozen

from stepfold.loop._stop import Named, StopCondition, condition_name, is_step_count
from stepfold.schema import SchemaFault
from stepfold.values import (
    DEFAULT_BOUNDS,
    NO_SETTINGS,
    CallSettings,
    JsonBounds,
    JsonFormat,
    JsonText,
    NamedTool,
    NoOutput,
    Outcome,
    ProviderTool,
    Success,
    ToolChoice,
    ToolDefinition,
    UsageError,
    dump_json,
)

RULES = 1
"""The version of what `step` decides. A change of it is a change of this number."""

SECOND = 1_000_000_000

Check: TypeAlias = Callable[[object], tuple[SchemaFault, ...]]
"""The structural decoder of a tool's input: what is wrong with a parsed document, if anything."""


def _not_negative(name: str, value: float | None) -> None:
    if value is not None and not 0 <= value < math.inf:
        msg = f"{name}: expected a finite number that is not negative, got {value!r}"
        raise UsageError(msg)


@final
@frozen(order=False, kw_only=True)
class RetryPolicy:
    """When and how often a failed model call is made again. Times are in seconds.

    The pause before retry n is `initial_delay * factor**(n-1)`, at most `max_delay`, made longer
    or shorter by up to `jitter` of itself (drawn from the run's seed). What the server asks for
    in `retry-after` is kept exactly; if that is over `max_retry_after`, no retry is made.

    Raises:
        UsageError: a figure is negative or not finite, or the jitter over 1.
    """

    max_retries: int = 2
    initial_delay: float = 2.0
    factor: float = 2.0
    max_delay: float = 60.0
    jitter: float = 0.25
    max_retry_after: float = 60.0

    def __attrs_post_init__(self) -> None:
        _not_negative("RetryPolicy.max_retries", self.max_retries)
        _not_negative("RetryPolicy.initial_delay", self.initial_delay)
        _not_negative("RetryPolicy.factor", self.factor)
        _not_negative("RetryPolicy.max_delay", self.max_delay)
        _not_negative("RetryPolicy.jitter", self.jitter)
        _not_negative("RetryPolicy.max_retry_after", self.max_retry_after)
        if self.jitter > 1:
            msg = f"RetryPolicy.jitter: expected a share between 0 and 1, got {self.jitter!r}"
            raise UsageError(msg)


@runtime_checkable
class _Counts(Protocol):
    """A mapping that a variable holds: type checkers take the type of its keys as it is."""

    def items(self) -> Iterable[tuple[str | Named, int]]: ...


_CallLimits: TypeAlias = Mapping[str | Named, int] | _Counts | Sequence[tuple[str | Named, int]]


def _calls_by_name(given: _CallLimits) -> tuple[tuple[str, int], ...]:
    limits: dict[str, int] = {}
    for tool, count in given.items() if isinstance(given, _Counts) else given:
        name = tool if isinstance(tool, str) else tool.name
        _not_negative(f"Limits.calls_of[{name!r}]", count)
        if name in limits:
            msg = f"Limits.calls_of: expected each tool once, got {name!r} twice"
            raise UsageError(msg)
        limits[name] = count
    return tuple(sorted(limits.items()))


@final
@frozen(order=False, kw_only=True)
class Limits:
    """The hard budgets of a run, held by the loop; `None` is no limit.

    `steps`, `tool_calls` and `calls_of` are never exceeded: they are reserved when a call is
    issued, in call order. `calls_of` is given as `{tool: count}`, or by names, and kept as pairs
    sorted by name. `tokens` are exceeded by at most one reply's excess over its reservation. A
    call over its own tool's limit is answered by an error; any other limit ends the run in
    `Stopped("limit-…")`, whose evidence is `{"reached":…,"limit":…}`. With `wrap_up_tokens`, one
    step and so many tokens are kept back, within the limits, to ask for one last answer without
    tools.

    Raises:
        UsageError: a limit is negative, or there are two for one tool.
    """

    steps: int | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    calls_of: tuple[tuple[str, int], ...] = field(default=(), converter=_calls_by_name)
    wrap_up_tokens: int | None = None

    def __attrs_post_init__(self) -> None:
        _not_negative("Limits.steps", self.steps)
        _not_negative("Limits.tokens", self.tokens)
        _not_negative("Limits.tool_calls", self.tool_calls)
        _not_negative("Limits.wrap_up_tokens", self.wrap_up_tokens)


NO_LIMITS = Limits()
"""No limit at all."""


@final
@frozen(eq=False, kw_only=True)
class ToolSpec:
    """A tool as the loop sees it: everything but the code.

    `executes` is false for a tool that a client runs; `approval` tells who must agree: nobody, a
    person (`always`), or a policy that is asked for each call. `binds` asks the shell to build
    the arguments before anything runs, for tools whose types have validators of their own.
    `timeout` is in nanoseconds.
    """

    definition: ToolDefinition
    check: Check = field(repr=False)
    executes: bool = True
    approval: Literal["never", "always", "policy"] = "never"
    binds: bool = False
    idempotent: bool = False
    timeout: int | None = None

    @property
    def name(self) -> str:
        """The name that the model knows."""
        return self.definition.name


@final
@frozen(eq=False)
class OutputSpec:
    """What the run's final text has to be: `check` gives its JSON form, or says what is wrong.

    `check` runs inside the loop, so it is total and calls no code of the user's.
    """

    name: str
    check: Callable[[str], Outcome[JsonText, NoOutput]] = field(repr=False)
    format: JsonFormat | None = None


def _any_text(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText.of(text))


TEXT_OUTPUT = OutputSpec("text", _any_text)
"""The output is the final text, whatever it is."""


def _tool_table(tools: Mapping[str, ToolSpec]) -> Mapping[str, ToolSpec]:
    return MappingProxyType(dict(tools))


def _provider_tool_table(tools: Mapping[str, ProviderTool]) -> Mapping[str, ProviderTool]:
    return MappingProxyType(dict(tools))


@final
@frozen(eq=False, kw_only=True)
class Program:
    """Everything that decides a run, but its history and the world.

    `models` are names (`provider/model_id`): the first is asked; if it cannot answer, the next.
    `provider_tools` are run by the provider; all tools together have a name each.
    `prepares`, `repairs` and `checks_stop` tell that the shell has hooks which the loop must ask
    by `PrepareStep`, `RepairCall` and `CheckStop`.

    Raises:
        UsageError: no model, two tools of one name, a choice or a limit that names no tool, a stop
            condition that is none.
    """

    models: tuple[str, ...]
    tools: Mapping[str, ToolSpec] = field(factory=dict[str, ToolSpec], converter=_tool_table)
    provider_tools: Mapping[str, ProviderTool] = field(
        factory=dict[str, ProviderTool], converter=_provider_tool_table
    )
    instructions: str = ""
    settings: CallSettings = NO_SETTINGS
    tool_choice: ToolChoice = "auto"
    output: OutputSpec = TEXT_OUTPUT
    stop_when: StopCondition = field(factory=lambda: is_step_count(20))
    limits: Limits = NO_LIMITS
    retry: RetryPolicy = RetryPolicy()
    bounds: JsonBounds = DEFAULT_BOUNDS
    provider_options: JsonText | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    allow_system_messages: bool = False
    prepares: bool = False
    repairs: bool = False
    checks_stop: bool = False
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
        match self.tool_choice:
            case NamedTool(name) if name not in self.tool_names:
                offered = ", ".join(self.tool_names) or "none"
                msg = f"tool_choice: expected one of the tools ({offered}), got {name!r}"
                raise UsageError(msg)
            case "required" if not self.tool_names:
                msg = "tool_choice: 'required' needs at least one tool, got none"
                raise UsageError(msg)
            case _:
                pass
        for name, _ in self.limits.calls_of:
            if name not in self.tools:
                msg = f"Limits.calls_of: expected one of the tools ({known}), got {name!r}"
                raise UsageError(msg)
        condition: object = self.stop_when
        if not callable(condition):
            msg = f"stop_when: expected a function of Progress, got {condition!r}"
            raise UsageError(msg)

    @cached_property
    def tool_names(self) -> tuple[str, ...]:
        """The names of all tools: those that are run here or by a client, then the provider's."""
        return (*self.tools, *self.provider_tools)

    @cached_property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools as a model is told of them, in their order."""
        return tuple(tool.definition for tool in self.tools.values())

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of what decides a run and can be written down; no code, no secrets."""
        return hashlib.sha256(dump_json(self._outline()).encode()).hexdigest()

    def _outline(self) -> dict[str, object]:
        limits, retry = self.limits, self.retry
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
                ]
                for tool in self.tools.values()
            ],
            "tool_choice": choice if isinstance(choice, str) else [choice.tool_name],
            "output": [
                self.output.name,
                None if output is None or output.schema is None else output.schema.text,
            ],
            "stop_when": condition_name(self.stop_when),
            "limits": [
                limits.steps,
                limits.tokens,
                limits.tool_calls,
                [list(pair) for pair in limits.calls_of],
                limits.wrap_up_tokens,
            ],
            "retry": [
                retry.max_retries,
                retry.initial_delay,
                retry.factor,
                retry.max_delay,
                retry.jitter,
                retry.max_retry_after,
            ],
            "hooks": [self.prepares, self.repairs, self.checks_stop],
            "bounds": [self.bounds.length, self.bounds.depth, self.bounds.digits],
            "version": self.version,
        }
        if self.provider_tools:
            outline["provider_tools"] = [
                [tool.id, tool.name, tool.args.text, tool.supports_deferred_results]
                for tool in self.provider_tools.values()
            ]
        return outline
