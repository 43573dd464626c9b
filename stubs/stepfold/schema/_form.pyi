from collections.abc import Mapping
from typing import TypeAlias, final
from attrs import Factory, field, frozen
from stepfold.schema._bind import Build, runs_user_code
from stepfold.schema._decoder import Decoder
from stepfold.schema._faults import Faults
from stepfold.schema._nodes import Node
from stepfold.values._json import JsonText
from stepfold.values._outcome import Outcome

@final
@frozen(order=False)
class TypedForm:
    root: Node
    definitions: tuple[tuple[str, Node], ...]
    schema: JsonText
    decoder: Decoder = field()
    build: Build = field()
    runs_user_code: bool = field()

def _decoder(form: "JsonSchemaForm") -> Decoder: ...

@final
@frozen(order=False)
class JsonSchemaForm:
    schema: JsonText
    where: str = field(default="JsonSchemaForm")
    decoder: Decoder = field(default=Factory(_decoder, takes_self=True), init=False)

    @staticmethod
    def of(schema: Mapping[str, object], *, where: str = "JsonSchemaForm") -> "JsonSchemaForm": ...

Form: TypeAlias = TypedForm | JsonSchemaForm

def schema_of(form: Form) -> JsonText: ...
def decoder_of(form: Form) -> Decoder: ...
def bind(form: Form, value: object) -> Outcome[object, Faults]: ...
def binds_user_code(form: Form) -> bool: ...
def unbind(value: object, form: Form | None = None) -> object: ...
def object_form_of(schema: JsonText, *, where: str) -> JsonSchemaForm: ...
def require_object(form: Form, *, where: str) -> None: ...
