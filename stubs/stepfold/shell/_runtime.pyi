from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar, final
from attrs import field, frozen
from stepfold.ports import Clock, Journal, LanguageModel
from stepfold.shell._clock import SystemClock
from stepfold.shell._tool import AnyTool

D = TypeVar("D")

def _models_by_name(models: Iterable[LanguageModel]) -> Mapping[str, LanguageModel]: ...
def tools_by_name(tools: Iterable[AnyTool[D, object]]) -> Mapping[str, AnyTool[D, object]]: ...

@final
@frozen(eq=False, kw_only=True)
class Runtime(Generic[D]):
    models: Mapping[str, LanguageModel] = field(converter=_models_by_name)
    deps: D
    tools: Mapping[str, AnyTool[D, object]] = field(converter=tools_by_name)
    clock: Clock = field(factory=SystemClock)
    journal: Journal | None = None
    concurrency: int | None = None

    def __attrs_post_init__(self) -> None: ...
