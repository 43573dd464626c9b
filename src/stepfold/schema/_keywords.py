"""Which words of JSON Schema draft 2020-12 are understood, and what a schema must look like.

    asserted   type enum const  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
               minLength maxLength pattern  items prefixItems minItems maxItems uniqueItems
               contains minContains maxContains  properties patternProperties
               additionalProperties propertyNames required minProperties maxProperties
               dependentRequired  anyOf oneOf allOf not if then else  $ref (within the document)
    refused    what restricts and is not in the list above: a silent gap would let through what
               the schema forbids
    ignored    everything else: annotations (`title`, `description`, `default`, `format`, …) and
               unknown words, as the specification asks

`pattern` is run by Python's `re`, which is not ECMA 262; stay with what they share.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from stepfold.schema._faults import pointer_to, shown
from stepfold.schema._kinds import is_array, is_number, is_object, items_of, members_of
from stepfold.values._errors import UsageError

JsonSchema: TypeAlias = Mapping[str, object]

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")

_SCHEMA = (
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
)
_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "patternProperties", "properties")
_COUNTS = (
    "maxContains", "maxItems", "maxLength", "maxProperties",
    "minContains", "minItems", "minLength", "minProperties",
)  # fmt: skip
_NUMBERS = ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")
ASSERTED = frozenset(
    {
        *_SCHEMA, *_COUNTS, *_NUMBERS, *_SCHEMAS, "properties", "patternProperties", "$ref",
        "type", "enum", "const", "pattern", "required", "uniqueItems", "dependentRequired",
    }
)  # fmt: skip
_REFUSED = {
    "$anchor": "refer by #/$defs/… instead",
    "$dynamicRef": "refer by $ref instead",
    "$dynamicAnchor": "refer by #/$defs/… instead",
    "$recursiveRef": "refer by $ref instead",
    "additionalItems": "this is draft-07: write prefixItems and items",
    "dependencies": "this is draft-07: write dependentRequired",
    "dependentSchemas": "write if/then instead",
    "unevaluatedItems": "write items instead",
    "unevaluatedProperties": "write additionalProperties instead",
}


def inspect_schema(schema: object, *, where: str) -> None:
    """Refuse a schema that is malformed or restricts by a keyword that is not understood.

    Raises:
        UsageError: naming where, the pointer, what was expected, what came and what to do.
    """
    inspection = _Inspection(where, schema)
    inspection.schema(schema, "")
    inspection.endings()


class _Inspection:
    """One walk over a schema; `root` is there to resolve references."""

    def __init__(self, where: str, root: object) -> None:
        self.where: str = where
        self.root: object = root
        self.references: dict[str, None] = {}

    def endings(self) -> None:
        """Refuse references that lead to themselves without going into the value."""
        ended: set[str] = set()

        def follow(reference: str, path: tuple[str, ...]) -> None:
            if reference in path:
                raise self.refuse(
                    "", "references that end", reference, "put a property or an item between"
                )
            if reference not in ended:
                for further in _in_place(resolved(self.root, reference)):
                    follow(further, (*path, reference))
                ended.add(reference)

        for reference in self.references:
            follow(reference, ())

    def refuse(self, pointer: str, expected: str, value: object, advice: str) -> UsageError:
        place = f"{self.where}: JSON Schema at '{pointer}'" if pointer else self.where
        return UsageError(f"{place}: expected {expected}, got {shown(value)}; {advice}")

    def schema(self, schema: object, pointer: str) -> None:
        if schema is True or schema is False:
            return
        if not is_object(schema):
            raise self.refuse(pointer, "a JSON Schema", schema, "give an object, true or false")
        for keyword, value in schema.items():
            self.keyword(keyword, value, pointer_to(pointer, keyword))
        if pointer and "$id" in schema:
            raise self.refuse(
                pointer, "no $id within a schema", schema["$id"], "refer by #/$defs/…"
            )

    def keyword(self, keyword: str, value: object, pointer: str) -> None:
        if keyword in _REFUSED:
            raise self.refuse(
                pointer, f"a keyword that is understood in place of {keyword!r}", value,
                _REFUSED[keyword],
            )  # fmt: skip
        if keyword in _SCHEMA:
            self.schema(value, pointer)
        elif keyword in _SCHEMAS:
            if not is_array(value) or (not value and keyword != "prefixItems"):
                raise self.refuse(pointer, "an array of schemas", value, "give at least one")
            for index, member in enumerate(value):
                self.schema(member, pointer_to(pointer, index))
        elif keyword in _NAMED:
            if not is_object(value):
                raise self.refuse(pointer, "an object of schemas", value, "give an object")
            for name, member in value.items():
                self.schema(member, pointer_to(pointer, name))
                if keyword == "patternProperties":
                    self.expression(name, pointer)
        else:
            self.assertion(keyword, value, pointer)

    def assertion(self, keyword: str, value: object, pointer: str) -> None:
        if keyword in _COUNTS:
            if not is_number(value) or value < 0 or value != int(value):
                raise self.refuse(pointer, "a count of 0 or more", value, "give an integer")
        elif keyword in _NUMBERS:
            if not is_number(value) or (keyword == "multipleOf" and value <= 0):
                raise self.refuse(pointer, "a number", value, "give one (multipleOf: above 0)")
        elif keyword == "pattern":
            self.expression(value, pointer)
        elif keyword == "type":
            types = value if is_array(value) else [value]
            if not types or any(name not in TYPES for name in types):
                raise self.refuse(pointer, f"one or more of {', '.join(TYPES)}", value, "mend it")
        elif keyword == "enum":
            if not is_array(value):
                raise self.refuse(pointer, "an array of values", value, "give an array")
        elif keyword == "required":
            self.names(value, pointer)
        elif keyword == "dependentRequired":
            if not is_object(value):
                raise self.refuse(pointer, "an object of arrays of names", value, "mend it")
            for name, names in value.items():
                self.names(names, pointer_to(pointer, name))
        elif keyword == "uniqueItems":
            if value is not True and value is not False:
                raise self.refuse(pointer, "true or false", value, "give one of them")
        elif keyword == "$ref":
            self.reference(value, pointer)

    def names(self, value: object, pointer: str) -> None:
        if not is_array(value) or not all(isinstance(name, str) for name in value):
            raise self.refuse(pointer, "an array of names", value, "give an array of strings")

    def expression(self, value: object, pointer: str) -> None:
        try:
            if isinstance(value, str):
                re.compile(value)
                return
        except re.error:
            pass
        raise self.refuse(
            pointer, "a regular expression that Python understands", value, "mend or drop it"
        )

    def reference(self, value: object, pointer: str) -> None:
        if not isinstance(value, str) or not value.startswith("#"):
            raise self.refuse(
                pointer, "a reference within the document (#/$defs/…)", value,
                "copy the schema it points at into $defs",
            )  # fmt: skip
        if resolved(self.root, value) is None:
            raise self.refuse(pointer, "a reference to a schema", value, "define its target")
        self.references[value] = None


def subschemas(schema: JsonSchema, pointer: str) -> Iterator[tuple[object, str]]:
    """The schemas that a schema applies to its value or to parts of it, each with its pointer."""
    for keyword, value in schema.items():
        here = pointer_to(pointer, keyword)
        if keyword in _SCHEMA:
            yield value, here
        elif keyword in _SCHEMAS:
            for index, member in enumerate(items_of(value)):
                yield member, pointer_to(here, index)
        elif keyword in ("patternProperties", "properties"):
            for name, member in members_of(value).items():
                yield member, pointer_to(here, name)


def _in_place(schema: object) -> Iterator[str]:
    """The references that apply to the same value as the schema itself."""
    if not is_object(schema):
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield reference
    for keyword in ("not", "if", "then", "else"):
        yield from _in_place(schema.get(keyword))
    for keyword in ("allOf", "anyOf", "oneOf"):
        members = schema.get(keyword)
        for member in members if is_array(members) else ():
            yield from _in_place(member)


def resolved(root: object, reference: str) -> object:
    """Find what `#` or `#/…` (RFC 6901 in a fragment) points at; None when there is nothing."""
    target = root
    for token in reference.split("/")[1:]:
        key = _unquoted(token).replace("~1", "/").replace("~0", "~")
        if is_object(target) and key in target:
            target = target[key]
        elif is_array(target) and key.isdecimal() and int(key) < len(target):
            target = target[int(key)]
        else:
            return None
    known = reference == "#" or reference.startswith("#/")
    return target if known and (is_object(target) or isinstance(target, bool)) else None


def _unquoted(token: str) -> str:
    return re.sub("%([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), token)
