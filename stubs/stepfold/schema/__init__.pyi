from stepfold.schema._annotations import form_of
from stepfold.schema._constraints import Constraint, Description, bounded, describe, pattern
from stepfold.schema._decoder import Decoder, check_text
from stepfold.schema._dialects import DialectName, Translated, to_dialect, without_added_nulls
from stepfold.schema._faults import Faults, SchemaFault, nearest
from stepfold.schema._form import (
    Form,
    JsonSchemaForm,
    TypedForm,
    bind,
    binds_user_code,
    decoder_of,
    object_form_of,
    require_object,
    schema_of,
    unbind,
)
from stepfold.schema._parameters import Parameters, parameters_of, parameters_of_schema
from stepfold.schema._unbind import encode_result

__all__ = (
    "Constraint",
    "Decoder",
    "Description",
    "DialectName",
    "Faults",
    "Form",
    "JsonSchemaForm",
    "Parameters",
    "SchemaFault",
    "Translated",
    "TypedForm",
    "bind",
    "binds_user_code",
    "bounded",
    "check_text",
    "decoder_of",
    "describe",
    "encode_result",
    "form_of",
    "nearest",
    "object_form_of",
    "parameters_of",
    "parameters_of_schema",
    "pattern",
    "require_object",
    "schema_of",
    "to_dialect",
    "unbind",
    "without_added_nulls",
)
