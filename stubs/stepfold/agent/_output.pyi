from collections.abc import Callable
from typing import Generic, LiteralString, Never, final, overload
from attrs import field, frozen
from typing_extensions import TypeForm, TypeVar
from stepfold.agent._output_partial import PartialMaker, PartialOutput
from stepfold.agent._output_wire import Strategy
from stepfold.loop import OutputSpec, ToolSpec
from stepfold.shell import AnyTool
from stepfold.values import JsonText, JsonValue, NoOutput, Outcome

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
L = TypeVar("L", bound=LiteralString)

@final
@frozen(eq=False)
class Output(Generic[T_co]):
    spec: OutputSpec
    tool: ToolSpec | None
    _decode: Callable[[JsonText], Outcome[T_co, NoOutput]] = field(alias="decode")
    _partial: PartialMaker = field(alias="partial")
    result_of: AnyTool[Never, object] | None = field(default=None)

    def decode(self, document: JsonText) -> Outcome[T_co, NoOutput]: ...
    def partial(self) -> PartialOutput: ...

def text() -> Output[str]: ...
def object_of(
    form: TypeForm[T],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[T]: ...
def array_of(
    form: TypeForm[T],
    /,
    *,
    min_items: int | None = None,
    max_items: int | None = None,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[tuple[T, ...]]: ...
@overload
def choice_of(
    form: TypeForm[T],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[T]: ...
@overload
def choice_of(
    first: L,
    second: L,
    /,
    *others: L,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[L]: ...
def json(
    *,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[JsonValue]: ...
