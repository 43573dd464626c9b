"""The program that an agent's options describe: each option is checked as it is read."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Never

from stepfold.agent._checks import (
    checked_condition,
    checked_prices,
    json_object,
    require_choice,
    require_kind,
    tool_names,
)
from stepfold.agent._options import AgentOptions
from stepfold.loop import (
    NO_TIMEOUTS,
    Condition,
    Limits,
    OutputSpec,
    Program,
    Progress,
    RetryPolicy,
    Timeouts,
    ToolSpec,
)
from stepfold.ports import Download, LanguageModel
from stepfold.shell import Hooks, Observer
from stepfold.transport import download_files
from stepfold.values import (
    NO_SETTINGS,
    CallSettings,
    JsonText,
    ProviderTool,
    Stop,
    SystemMessage,
    UsageError,
)

DEFAULT_STEPS = 20
AGENT_OPTIONS = frozenset(AgentOptions.__annotations__)


def program_of(
    names: Mapping[str, tuple[str, ...]],
    tools: Mapping[str, ToolSpec],
    provider_tools: Mapping[str, ProviderTool],
    output: OutputSpec,
    hooks: Hooks[Never],
    options: AgentOptions,
    *,
    prepares: bool = False,
) -> Program:
    """Make the program of an agent; some tool `prepares` its own description, or none.

    Raises:
        UsageError: an option is of the wrong kind; the text names it.
    """
    instructions, of_instructions = _instructions(options.get("instructions", ""))
    settings = options.get("settings", NO_SETTINGS)
    stop_when, limits = options.get("stop_when"), options.get("limits")
    prices, retry = options.get("prices"), options.get("retry")
    tool_choice = options.get("tool_choice", "auto")
    require_kind("settings", settings, CallSettings)
    if limits is not None:
        require_kind("limits", limits, Limits)
    if retry is not None:
        require_kind("retry", retry, RetryPolicy)
    require_choice(tool_choice, (*tools, *provider_tools))
    return Program(
        models=(*names["model"], *names.get("fallback_models", ())),
        step_models=names.get("step_models", ()),
        tools=tools,
        provider_tools=provider_tools,
        instructions=instructions,
        instructions_options=of_instructions,
        settings=settings,
        tool_choice=tool_choice,
        active_tools=tool_names("active_tools", options.get("active_tools")),
        tool_order=tool_names("tool_order", options.get("tool_order")),
        output=output,
        stop_when=(stops_by_default() if stop_when is None else checked_condition(stop_when)),
        limits=Limits() if limits is None else limits,
        prices={} if prices is None else checked_prices(prices),
        retry=RetryPolicy() if retry is None else retry,
        timeouts=_timeouts(options.get("timeout")),
        provider_options=json_object("provider_options", options.get("provider_options")),
        allow_system_messages=options.get("allow_system_messages", False),
        prepares=hooks.prepare_step is not None or prepares,
        repairs=hooks.repair_tool_call is not None,
        tool_approval_secret=options.get("tool_approval_secret"),
        checks_stop=hooks.stop_check is not None,
    )


def _instructions(given: str | SystemMessage) -> tuple[str, JsonText | None]:
    """The text of instructions, and the provider options of their own."""
    if isinstance(given, SystemMessage):
        return given.content, given.provider_options
    require_kind("instructions", given, str)
    return given, None


def _timeouts(given: float | Timeouts | None) -> Timeouts:
    """How long things may take; a number is for the whole run."""
    if given is None:
        return NO_TIMEOUTS
    if isinstance(given, Timeouts):
        return given
    if type(given) not in {int, float} or not 0 < given < math.inf:
        raise UsageError(f"timeout: expected seconds above zero, or Timeouts, got {given!r}")
    return Timeouts(total=given)


def with_output_tool(tools: Mapping[str, ToolSpec], given: ToolSpec | None) -> dict[str, ToolSpec]:
    """The tools, and the one by which the model gives the output, if it is to give it by one.

    Raises:
        UsageError: another tool has its name.
    """
    if given is None:
        return dict(tools)
    if given.name in tools:
        raise UsageError(
            f"tools: expected no tool named {given.name!r}, since the output is given by a tool of "
            "that name, got one: rename it with @tool(name=…), or take another strategy"
        )
    return {**tools, given.name: given}


def stops_by_default() -> Condition:
    """The stop condition of an agent that is given none; its evidence says so."""

    def decide(progress: Progress) -> Stop | None:
        reached = len(progress.steps)
        if reached < DEFAULT_STEPS:
            return None
        evidence = {"reached": reached, "limit": DEFAULT_STEPS, "default": True}
        return Stop("is_step_count", JsonText.of(evidence))

    return Condition(f"is_step_count({DEFAULT_STEPS})", decide)


def checked_download(options: AgentOptions) -> Download | None:
    """What fetches files by their addresses.

    Raises:
        UsageError: it is no function.
    """
    if "download" not in options:
        return download_files()
    given = options["download"]
    function: object = given
    if given is not None and not callable(function):
        raise UsageError(
            f"download: expected an async function of an address, such as download_files(), "
            f"got {function!r}"
        )
    return given


def checked_resolver(options: AgentOptions) -> Callable[[str], LanguageModel]:
    """What makes the models of ids: by default the built-in providers, imported when they do.

    Raises:
        UsageError: it is no function.
    """
    if "resolve_model" not in options:
        return _built_in
    given = options["resolve_model"]
    function: object = given
    if not callable(function):
        raise UsageError(
            f"resolve_model: expected a function from an id to a model, such as a "
            f"ProviderRegistry, got {function!r:.200}"
        )
    return given


def _built_in(name: str) -> LanguageModel:
    from stepfold.providers import resolve_model

    return resolve_model(name)


def checked_concurrency(given: int | None) -> int | None:
    """How many tools of one run may be at work at once.

    Raises:
        UsageError: it is no whole number from 1.
    """
    if given is not None and (type(given) is not int or given < 1):
        raise UsageError(f"concurrency: expected a whole number from 1, got {given!r}")
    return given


def checked_observers(given: Sequence[Observer]) -> tuple[Observer, ...]:
    """Who is told what happens.

    Raises:
        UsageError: one cannot be called, or one was given alone.
    """
    if callable(given):
        raise UsageError(f"observers: expected a sequence of functions, got {given!r:.200}")
    observers = tuple(given)
    for observer in observers:
        if not callable(observer):
            raise UsageError(
                f"observers: expected functions of one observation, got {observer!r:.200}"
            )
    return observers
