from stepfold.schema._faults import SchemaFault
from stepfold.values._json import JsonText
from stepfold.values._outcome import Outcome

def encode_result(value: object) -> Outcome[JsonText, SchemaFault]: ...
