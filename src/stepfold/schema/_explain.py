"""Says what is wrong with a value that the compiled checks refused: the slow half of the decoder.

It walks schema and value side by side and asks a compiled check of each part whether to go in, so
that the two halves cannot disagree. At most ten faults are told, the first ones.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from stepfold.schema._accept import OF_TYPE, Accepts, is_multiple, key_of
from stepfold.schema._faults import (
    MOST_FAULTS,
    Faults,
    SchemaFault,
    counted,
    fault_at,
    nearest,
    pointer_to,
    shortened,
    shown,
)
from stepfold.schema._grammars import WORDS_OF_PATTERN
from stepfold.schema._keywords import JsonSchema, resolved
from stepfold.schema._kinds import is_array, is_number, is_object, items_of, members_of

_NAMES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}
_MOST_NAMED = 12
_MOST_BESIDE_NEAR = 100  # characters of names, where the one that was meant comes after them

Compile: TypeAlias = Callable[[object], Accepts]


def explained(schema: object, value: object, *, root: object, compiled: Compile) -> Faults:
    """Tell the first ten faults of a value; at least one, whatever the value."""
    found = tuple(islice(_Explanation(root, compiled).faults(schema, value, ""), MOST_FAULTS))
    return found or (fault_at("", _expected(schema), value),)


class _Explanation:
    """One walk; `compiled` gives the check of a part of the schema at `root`."""

    def __init__(self, root: object, compiled: Compile) -> None:
        self.root: object = root
        self.compiled: Compile = compiled

    def faults(self, schema: object, value: object, pointer: str) -> Iterator[SchemaFault]:
        if self.compiled(schema)(value):
            return
        if not is_object(schema):
            yield fault_at(pointer, "nothing here", value)
            return
        if not _has_type(schema, value):
            yield fault_at(pointer, _expected(schema), value)
            return
        told = False
        for fault in self._within(schema, value, pointer):
            told = True
            yield fault
        if not told:
            yield fault_at(pointer, _expected(schema), value)

    def _within(self, schema: JsonSchema, value: object, pointer: str) -> Iterator[SchemaFault]:
        yield from _scalar(schema, value, pointer)
        if is_array(value):
            yield from self._array(schema, value, pointer)
        if is_object(value):
            yield from self._object(schema, value, pointer)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield from self.faults(resolved(self.root, reference), value, pointer)
        for member in items_of(schema.get("allOf")):
            yield from self.faults(member, value, pointer)
        for keyword in ("anyOf", "oneOf"):
            yield from self._union(items_of(schema.get(keyword)), value, pointer)
        if "if" in schema:
            branch = "then" if self.compiled(schema["if"])(value) else "else"
            yield from self.faults(schema.get(branch, True), value, pointer)

    def _union(self, members: list[object], value: object, pointer: str) -> Iterator[SchemaFault]:
        accepting = [member for member in members if self.compiled(member)(value)]
        if not members or len(accepting) == 1:
            return
        if accepting:
            yield fault_at(pointer, "a value that fits exactly one of the forms", value)
            return
        # A null beside one form that fits by its type: tell what is wrong within that form.
        near = [member for member in members if self._fits_by_type(member, value)]
        if len(near) == 1:
            yield from self.faults(near[0], value, pointer)
            return
        words = dict.fromkeys(_expected(self._followed(member)) for member in members)
        yield fault_at(pointer, " or ".join(words), value)

    def _fits_by_type(self, member: object, value: object) -> bool:
        followed = self._followed(member)
        return is_object(followed) and _has_type(followed, value)

    def _followed(self, schema: object) -> object:
        while is_object(schema) and isinstance(reference := schema.get("$ref"), str):
            schema = resolved(self.root, reference)
        return schema

    def _array(
        self, schema: JsonSchema, items: list[object], pointer: str
    ) -> Iterator[SchemaFault]:
        yield from _size(schema, len(items), pointer, "Items", ("item", "items"))
        prefix = items_of(schema.get("prefixItems"))
        rest = schema.get("items", True)
        for index, item in enumerate(items):
            member = prefix[index] if index < len(prefix) else rest
            yield from self.faults(member, item, pointer_to(pointer, index))
        if schema.get("uniqueItems") is True:
            seen: set[object] = set()
            for index, item in enumerate(items):
                key = key_of(item)
                if key in seen:
                    yield fault_at(
                        pointer_to(pointer, index), "an item that is not there yet", item
                    )
                seen.add(key)
        if "contains" in schema:
            count = sum(map(self.compiled(schema["contains"]), items))
            least, most = schema.get("minContains", 1), schema.get("maxContains", len(items))
            if not (is_number(least) and is_number(most) and least <= count <= most):
                expected = f"{least} to {most} items that are {_expected(schema['contains'])}"
                yield SchemaFault(pointer, shortened(f"expected {expected}, got {count}"))

    def _object(
        self, schema: JsonSchema, members: dict[str, object], pointer: str
    ) -> Iterator[SchemaFault]:
        nouns = ("property", "properties")
        yield from _size(schema, len(members), pointer, "Properties", nouns)
        known = members_of(schema.get("properties"))
        for name in items_of(schema.get("required")):
            if name not in members:
                yield self._missing(str(name), known, pointer)
        patterns = members_of(schema.get("patternProperties"))
        rest = schema.get("additionalProperties", True)
        for name, item in members.items():
            here = pointer_to(pointer, name)
            if not self.compiled(schema.get("propertyNames", True))(name):
                expected = f"a name that is {_expected(schema['propertyNames'])}"
                yield fault_at(here, expected, name)
            matching = [member for text, member in patterns.items() if re.search(text, name)]
            if name in known:
                matching.append(known[name])
            elif not matching and rest is False:
                yield _unexpected(name, known, pointer)
            elif not matching:
                matching.append(rest)
            for member in matching:
                yield from self.faults(member, item, here)
        for name, others in members_of(schema.get("dependentRequired")).items():
            for other in items_of(others):
                if name in members and other not in members:
                    yield self._missing(str(other), known, pointer)

    def _missing(self, name: str, known: dict[str, object], pointer: str) -> SchemaFault:
        expected = _expected(self._followed(known.get(name, True)))
        named = f"the property {shown(name)} ({expected})"
        return SchemaFault(pointer, shortened(f"expected {named}, got an object without it"))


def _unexpected(name: str, known: dict[str, object], pointer: str) -> SchemaFault:
    names = ", ".join(shown(one) for one in islice(known, _MOST_NAMED)) or "no properties"
    more = ", …" if len(known) > _MOST_NAMED else ""
    text = f"got a property {shown(name)} that is not known"
    near = nearest(name, known)
    if near is not None:
        names, text = shortened(names, _MOST_BESIDE_NEAR), f"{text}; did you mean {shown(near)}?"
    return SchemaFault(pointer, shortened(f"expected only {names}{more}, {text}"))


def _scalar(schema: JsonSchema, value: object, pointer: str) -> Iterator[SchemaFault]:
    key = key_of(value)
    is_other = "const" in schema and key != key_of(schema["const"])
    if is_other or ("enum" in schema and key not in map(key_of, items_of(schema["enum"]))):
        return  # `faults` tells what was expected where nothing else is told
    if isinstance(value, str):
        nouns = ("character", "characters")
        yield from _size(schema, len(value), pointer, "Length", nouns)
        expression = schema.get("pattern")
        if isinstance(expression, str) and re.search(expression, value) is None:
            yield fault_at(pointer, _words_of(expression), value)
    if is_number(value):
        minimum, above = schema.get("minimum"), schema.get("exclusiveMinimum")
        maximum, below = schema.get("maximum"), schema.get("exclusiveMaximum")
        step = schema.get("multipleOf")
        if is_number(minimum) and value < minimum:
            yield fault_at(pointer, f"a number of at least {shown(minimum)}", value)
        if is_number(above) and value <= above:
            yield fault_at(pointer, f"a number above {shown(above)}", value)
        if is_number(maximum) and value > maximum:
            yield fault_at(pointer, f"a number of at most {shown(maximum)}", value)
        if is_number(below) and value >= below:
            yield fault_at(pointer, f"a number below {shown(below)}", value)
        if is_number(step) and not is_multiple(value, step):
            yield fault_at(pointer, f"a multiple of {shown(step)}", value)


def _size(
    schema: JsonSchema, size: int, pointer: str, noun: str, words: tuple[str, str]
) -> Iterator[SchemaFault]:
    least, most = schema.get(f"min{noun}"), schema.get(f"max{noun}")
    if is_number(least) and size < least:
        text = f"expected at least {counted(int(least), *words)}, got {size}"
        yield SchemaFault(pointer, text)
    if is_number(most) and size > most:
        text = f"expected at most {counted(int(most), *words)}, got {size}"
        yield SchemaFault(pointer, text)


def _has_type(schema: JsonSchema, value: object) -> bool:
    types = schema.get("type", list(OF_TYPE))
    names = types if is_array(types) else [types]
    return any(OF_TYPE[str(name)](value) for name in names)


def _words_of(expression: str) -> str:
    return WORDS_OF_PATTERN.get(expression) or f"a string that matches {shortened(expression, 80)}"


def _expected(schema: object) -> str:
    """Name what a schema asks for in a few words."""
    if not is_object(schema):
        return "nothing" if schema is False else "any value"
    values = [schema["const"]] if "const" in schema else items_of(schema.get("enum"))
    if values:
        shown_values = [shown(value) for value in values[:_MOST_NAMED]]
        more = ", …" if len(values) > _MOST_NAMED else ""
        one = "" if len(values) == 1 else "one of "
        return f"{one}{', '.join(shown_values)}{more}"
    expression = schema.get("pattern")
    if isinstance(expression, str) and expression in WORDS_OF_PATTERN:
        return WORDS_OF_PATTERN[expression]
    types = schema.get("type")
    names = types if is_array(types) else [types]
    words = " or ".join(_NAMES[str(name)] for name in names if name is not None)
    return words or "a value that fits the schema"
