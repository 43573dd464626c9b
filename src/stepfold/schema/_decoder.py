"""The structural decoder: accepts a JSON value exactly when the JSON Schema does (law 16).

It is compiled from the schema itself, so that agreement is a matter of keywords, not of types. It
is total, runs no code of the user's and never changes the value: `bind` makes Python objects.
"""

from collections.abc import Callable
from typing import TypeAlias, final

from typing_extensions import override

from stepfold.schema._accept import Accepts, Compiler
from stepfold.schema._explain import explained
from stepfold.schema._faults import Faults, SchemaFault, shortened
from stepfold.schema._keywords import inspect_schema
from stepfold.values._errors import UsageError
from stepfold.values._json import DEFAULT_BOUNDS, JsonBounds, JsonText, parse_json
from stepfold.values._outcome import Failure, Outcome

Check: TypeAlias = Callable[[object], Faults]


@final
class Decoder:
    """A compiled check of JSON values against one schema; equal to another of the same schema.

    `check` takes what `json.loads` or `parse_json` gives and returns the faults, at most ten and
    none for an acceptable value. It is total: a value nested too deep for the stack is a fault.
    """

    __slots__ = ("_accepts", "_compiler", "_document", "schema")

    def __init__(self, schema: JsonText, *, where: str) -> None:
        """Compile a schema.

        Raises:
            UsageError: when the schema is malformed or restricts by a keyword that is not
                understood; the text names the keyword and its place.
        """
        self.schema: JsonText = schema
        self._document: object = _document(schema, where)
        inspect_schema(self._document, where=where)
        self._compiler: Compiler = Compiler(self._document)
        self._accepts: Accepts = self._compiler.compiled(self._document)

    def check(self, value: object) -> Faults:
        """Tell what is wrong with a JSON value; nothing when it is acceptable."""
        try:
            if self._accepts(value):
                return ()
            return explained(
                self._document, value, root=self._document, compiled=self._compiler.compiled
            )
        except RecursionError:
            return (SchemaFault("", "expected a value that is nested less deep"),)

    def accepts(self, value: object) -> bool:
        """Tell whether a JSON value is acceptable, without saying why."""
        return not self.check(value)

    @override
    def __eq__(self, other: object) -> bool:
        return self.schema == other.schema if isinstance(other, Decoder) else NotImplemented

    @override
    def __hash__(self) -> int:
        return hash(self.schema)

    @override
    def __repr__(self) -> str:
        return f"Decoder({shortened(self.schema.text)})"


def _document(schema: JsonText, where: str) -> object:
    parsed = parse_json(schema.text)
    if isinstance(parsed, Failure):
        raise UsageError(
            f"{where}: expected a JSON Schema, got text that is not acceptable JSON "
            f"({parsed.failure().message}); give the schema as one JSON document"
        )
    return parsed.unwrap()


def check_text(
    decoder: Decoder, text: str, bounds: JsonBounds = DEFAULT_BOUNDS
) -> Outcome[object, Faults]:
    """Parse the text of arguments under bounds and check it; total.

    Blank text counts as `{}`: models send it for tools without parameters. The result is plain
    JSON (dicts and lists) and the caller's own.
    """
    if not text.strip():
        text = "{}"
    parsed = parse_json(text, bounds)
    if isinstance(parsed, Failure):
        fault = parsed.failure()
        at = "" if fault.position is None else f" at character {fault.position}"
        message = f"expected one complete JSON document, got text that is none: {fault.message}"
        return Failure((SchemaFault("", shortened(f"{message}{at}")),))
    faults = decoder.check(parsed.unwrap())
    return Failure(faults) if faults else parsed
