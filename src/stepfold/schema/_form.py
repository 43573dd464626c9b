"""A form: a Python type or a ready JSON Schema, compiled once and used many times."""

import json
from collections.abc import Mapping
from typing import TypeAlias, final

from attrs import Factory, field, frozen

from stepfold.schema._bind import Build, RefusedError, runs_user_code
from stepfold.schema._decoder import Decoder
from stepfold.schema._faults import Faults, shown
from stepfold.schema._nodes import Node, children_of
from stepfold.schema._unbind import encode_result
from stepfold.values._errors import UsageError
from stepfold.values._json import JsonText
from stepfold.values._outcome import Failure, Outcome, Success


@final
@frozen(order=False)
class TypedForm:
    """The form of a Python type; made by `form_of`.

    `definitions` are the classes within, by name; a `ReferenceNode` in the tree leads to them.
    """

    root: Node
    definitions: tuple[tuple[str, Node], ...]
    schema: JsonText
    decoder: Decoder = field(eq=False, repr=False)
    build: Build = field(eq=False, repr=False)
    runs_user_code: bool = field(eq=False, repr=False)


def _decoder(form: "JsonSchemaForm") -> Decoder:
    return Decoder(form.schema, where=form.where)


@final
@frozen(order=False)
class JsonSchemaForm:
    """A ready JSON Schema (draft 2020-12) as a form; it binds to plain JSON.

    Raises:
        UsageError: when the schema is malformed, refers out of the document, or restricts by a
            keyword that is not understood (see the table of `stepfold.schema`'s decoder).
    """

    schema: JsonText
    where: str = field(default="JsonSchemaForm", eq=False, repr=False)
    decoder: Decoder = field(
        default=Factory(_decoder, takes_self=True), init=False, eq=False, repr=False
    )

    @staticmethod
    def of(schema: Mapping[str, object], *, where: str = "JsonSchemaForm") -> "JsonSchemaForm":
        """The form of a schema that is a dict, such as those of MCP.

        Raises:
            UsageError: when it is no JSON, or as the constructor does.
        """
        try:
            text = JsonText.of(schema)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{where}: expected a JSON Schema, got a value that is not JSON ({error}); give "
                "dicts, lists and scalars"
            ) from error
        return JsonSchemaForm(text, where)


Form: TypeAlias = TypedForm | JsonSchemaForm
"""What values look like: a Python type, or a ready JSON Schema."""


def schema_of(form: Form) -> JsonText:
    """The JSON Schema (draft 2020-12) of a form, the same text for the same type each time."""
    return form.schema


def decoder_of(form: Form) -> Decoder:
    """The structural decoder of a form: it accepts what the schema accepts, and nothing else."""
    return form.decoder


def bind(form: Form, value: object) -> Outcome[object, Faults]:
    """Make the typed object out of JSON, checking it first; total.

    May run code of the user's (see `binds_user_code`), whose exceptions become faults; without
    such code a value that passes the check never fails to bind. A ready schema binds to the JSON
    itself. Parts may be shared with `value`: do not change it afterwards.
    """
    faults = form.decoder.check(value)
    if faults:
        return Failure(faults)
    if isinstance(form, JsonSchemaForm):
        return Success(value)
    try:
        return Success(form.build(value))
    except RefusedError as refused:
        return Failure(refused.faults())


def binds_user_code(form: Form) -> bool:
    """Whether binding may run code of the user's: validators, constructors, pydantic models."""
    return isinstance(form, TypedForm) and form.runs_user_code


def unbind(value: object, form: Form | None = None) -> object:
    """Turn an object into plain JSON: the way back from `bind`, by the objects themselves.

    With a form the JSON is checked against it.

    Raises:
        UsageError: for what has no JSON form (see `encode_result`), or not that of the form.
    """
    encoded = encode_result(value)
    if isinstance(encoded, Failure):
        faults: Faults = (encoded.failure(),)
    else:
        plain: object = json.loads(encoded.unwrap().text)
        faults = () if form is None else form.decoder.check(plain)
        if not faults:
            return plain
    told = "; ".join(f"at '{fault.pointer}': {fault.message}" for fault in faults)
    raise UsageError(f"unbind(): {told}; change the value or the type it is declared with")


def object_form_of(schema: JsonText, *, where: str) -> JsonSchemaForm:
    """The form of a ready schema that must describe an object, as the input of a tool must.

    Raises:
        UsageError: when it does not say `"type": "object"` at its root, or as `JsonSchemaForm`.
    """
    form = JsonSchemaForm(schema, where=where)
    require_object(form, where=where)
    return form


def require_object(form: Form, *, where: str) -> None:
    """Refuse a form that is not an object.

    Raises:
        UsageError: when the schema does not say `"type": "object"` at its root.
    """
    document = form.schema.value
    kind = document.get("type") if isinstance(document, Mapping) else None
    if kind != "object":
        raise UsageError(
            f"{where}: expected the schema of an object, got type {shown(kind)}; "
            "wrap the value in an object with one property"
        )


def form_runs_user_code(root: Node, definitions: tuple[tuple[str, Node], ...]) -> bool:
    """Whether any part of a tree runs code of the user's when it is built."""

    def runs(node: Node) -> bool:
        return runs_user_code(node) or any(map(runs, children_of(node)))

    return runs(root) or any(runs(node) for _, node in definitions)
