from typing import final
from attrs import field, frozen
from stepfold.schema._faults import Faults
from stepfold.schema._form import Form, JsonSchemaForm
from stepfold.values._outcome import Outcome

@final
@frozen(order=False)
class Parameters:
    form: Form
    description: str
    returns: Form | None
    positional: tuple[tuple[str, object], ...] = field(default=())

    def bind(
        self, value: object
    ) -> Outcome[tuple[tuple[object, ...], dict[str, object]], Faults]: ...

def parameters_of(function: object, *, skip_first: bool) -> Parameters: ...
def parameters_of_schema(form: JsonSchemaForm, function: object) -> Parameters: ...
