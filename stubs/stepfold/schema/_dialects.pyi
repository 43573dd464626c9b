from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.schema._faults import SchemaFault
from stepfold.values._json import JsonText
from stepfold.values._outcome import Outcome

DialectName: TypeAlias = Literal[
    "draft-2020-12", "draft-07", "openai-strict", "anthropic", "google"
]

@final
@frozen(order=False)
class Translated:
    schema: JsonText
    dropped: tuple[str, ...] = ()

def to_dialect(schema: JsonText, dialect: DialectName) -> Outcome[Translated, SchemaFault]: ...
def without_added_nulls(schema: JsonText, value: object) -> object: ...
