"""`Runtime`: what a program's names stand for, in this process."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar, final, overload

from attrs import frozen

from stepfold.ports import Clock, Download, Journal, LanguageModel, model_name
from stepfold.shell._clock import SystemClock
from stepfold.shell._hooks import Hooks
from stepfold.shell._members import require_members
from stepfold.shell._observing import Observer
from stepfold.shell._tool import AnyTool
from stepfold.shell._tool_spec import name_of
from stepfold.values import JsonText, NoOutput, Outcome, UsageError

D = TypeVar("D")

BindOutput: TypeAlias = Callable[[JsonText], Outcome[object, NoOutput]]
"""Makes the output of its JSON with the type's own validators, or says why it cannot."""


def _models_by_name(models: Iterable[LanguageModel]) -> Mapping[str, LanguageModel]:
    table: dict[str, LanguageModel] = {}
    for model in models:
        name = model_name(model)
        if table.setdefault(name, model) is not model:
            raise UsageError(
                f"models: expected one model of each name, got two of {name!r}: give one of them "
                "another provider or model_id"
            )
    return MappingProxyType(table)


def _require_tool(given: object) -> None:
    if isinstance(given, AnyTool):
        return
    advice = ""
    if inspect.isroutine(given):
        advice = f": decorate it with @tool, or give tool({name_of(given)})"
    raise UsageError(f"tools: expected tools made by @tool, got {given!r:.200}{advice}")


def tools_by_name(tools: Iterable[AnyTool[D, object]]) -> Mapping[str, AnyTool[D, object]]:
    """Tools under their names, in their order.

    Raises:
        UsageError: something is no tool, or two have one name.
    """
    table: dict[str, AnyTool[D, object]] = {}
    for tool in tools:
        _require_tool(tool)
        if table.setdefault(tool.name, tool) is not tool:
            raise UsageError(
                f"tools: expected one tool of each name, got two of {tool.name!r}: rename one "
                "with @tool(name=…)"
            )
    return MappingProxyType(table)


@final
@frozen(eq=False, init=False)
class Runtime(Generic[D]):
    """The models, tools and services behind the names of a program. Never part of a state.

    `Agent.runtime` makes one of what an agent was given.

    Args:
        models: Kept by their names, `provider/model_id`.
        deps: What the tools' contexts hold; needed as soon as a tool asks for it.
        tools: Functions made tools by `@tool`; kept by their names.
        clock: Where the time of events comes from; the system's by default.
        journal: Where events are written, before they count.
        concurrency: How many tools of one run may be at work at once.
        hooks: What answers `PrepareStep`, `RepairCall`, `ResolveApproval` and `CheckStop`.
        observers: Told what happens, in their order, before the loop goes on.
        bind_output: What answers `BindOutput`: makes the output of its JSON, or says why not.
        download: What fetches files of a prompt that a model's provider does not fetch itself, such
            as `download_files()`; by default all addresses go to the model as they are.

    Raises:
        UsageError: two models or two tools of one name; a clock or a journal that is none.
    """

    models: Mapping[str, LanguageModel]
    deps: D
    tools: Mapping[str, AnyTool[D, object]]
    clock: Clock
    journal: Journal | None
    concurrency: int | None
    hooks: Hooks[D]
    observers: tuple[Observer, ...]
    bind_output: BindOutput | None
    download: Download | None

    @overload
    def __init__(
        self: "Runtime[object]",
        *,
        models: Iterable[LanguageModel],
        tools: Iterable[AnyTool[object, object]] = (),
        clock: Clock | None = None,
        journal: Journal | None = None,
        concurrency: int | None = None,
        hooks: Hooks[object] | None = None,
        observers: Iterable[Observer] = (),
        bind_output: BindOutput | None = None,
        download: Download | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        models: Iterable[LanguageModel],
        deps: D,
        tools: Iterable[AnyTool[D, object]] = (),
        clock: Clock | None = None,
        journal: Journal | None = None,
        concurrency: int | None = None,
        hooks: Hooks[D] | None = None,
        observers: Iterable[Observer] = (),
        bind_output: BindOutput | None = None,
        download: Download | None = None,
    ) -> None: ...
    def __init__(
        self,
        *,
        models: Iterable[LanguageModel],
        deps: object = None,
        tools: Iterable[AnyTool[D, object]] = (),
        clock: Clock | None = None,
        journal: Journal | None = None,
        concurrency: int | None = None,
        hooks: Hooks[D] | None = None,
        observers: Iterable[Observer] = (),
        bind_output: BindOutput | None = None,
        download: Download | None = None,
    ) -> None:
        if concurrency is not None and concurrency < 1:
            raise UsageError(f"concurrency: expected at least 1, got {concurrency!r}")
        if clock is not None:
            require_members("clock", clock, "now", "sleep_until")
        if journal is not None:
            require_members("journal", journal, "begin", "append")
        set_once = object.__setattr__  # this class is frozen
        set_once(self, "models", _models_by_name(models))
        set_once(self, "deps", deps)
        set_once(self, "tools", tools_by_name(tools))
        set_once(self, "clock", SystemClock() if clock is None else clock)
        set_once(self, "journal", journal)
        set_once(self, "concurrency", concurrency)
        set_once(self, "hooks", Hooks[D]() if hooks is None else hooks)
        set_once(self, "observers", tuple(observers))
        set_once(self, "bind_output", bind_output)
        set_once(self, "download", download)
