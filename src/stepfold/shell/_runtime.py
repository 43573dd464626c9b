"""`Runtime`: what a program's names stand for, in this process."""

import inspect
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Generic, TypeVar, final

from attrs import field, frozen

from stepfold.ports import Clock, Journal, LanguageModel, model_name
from stepfold.shell._clock import SystemClock
from stepfold.shell._tool import AnyTool, name_of
from stepfold.values import UsageError

D = TypeVar("D")


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
@frozen(eq=False, kw_only=True)
class Runtime(Generic[D]):
    """The models, tools and services behind the names of a program. Never part of a state.

    `models` is a sequence, kept by the names `provider/model_id`; `tools` is one too. At most
    `concurrency` tools of a run are at work at once. Events are written to `journal`, if there
    is one, before they count.

    Raises:
        UsageError: two models or two tools of one name.
    """

    models: Mapping[str, LanguageModel] = field(converter=_models_by_name)
    deps: D
    tools: Mapping[str, AnyTool[D, object]] = field(converter=tools_by_name)
    clock: Clock = field(factory=SystemClock)
    journal: Journal | None = None
    concurrency: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.concurrency is not None and self.concurrency < 1:
            raise UsageError(f"concurrency: expected at least 1, got {self.concurrency!r}")
