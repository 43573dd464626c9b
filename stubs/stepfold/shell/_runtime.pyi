from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeAlias, TypeVar, final, overload
from attrs import frozen
from stepfold.ports import Clock, Download, Journal, LanguageModel
from stepfold.shell._hooks import Hooks
from stepfold.shell._observing import Observer
from stepfold.shell._tool import AnyTool
from stepfold.values import JsonText, NoOutput, Outcome

D = TypeVar("D")
BindOutput: TypeAlias = Callable[[JsonText], Outcome[object, NoOutput]]

def tools_by_name(tools: Iterable[AnyTool[D, object]]) -> Mapping[str, AnyTool[D, object]]: ...

@final
@frozen(eq=False, init=False)
class Runtime(Generic[D]):
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
