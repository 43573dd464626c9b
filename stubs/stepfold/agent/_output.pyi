from collections.abc import Callable
from typing import Generic, final
from attrs import field, frozen
from typing_extensions import TypeForm, TypeVar
from stepfold.loop import OutputSpec
from stepfold.values import JsonText, NoOutput, Outcome

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

@final
@frozen(eq=False)
class Output(Generic[T_co]):
    spec: OutputSpec
    _decode: Callable[[JsonText], Outcome[T_co, NoOutput]] = field(alias="decode")

    def decode(self, document: JsonText) -> Outcome[T_co, NoOutput]: ...

def text() -> Output[str]: ...
def object_of(
    form: TypeForm[T], /, *, name: str | None = None, description: str | None = None
) -> Output[T]: ...
