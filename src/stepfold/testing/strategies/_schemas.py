"""Documents that a JSON Schema accepts, and replies that keep to the schemas of a request.

`sample_arguments` of `stepfold.testing.exploration` makes one simple document, without hypothesis.
"""

import json
import math
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Final, TypeAlias, cast, final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold.schema import JsonSchemaForm
from stepfold.testing._reply import call, reply
from stepfold.testing.strategies.values import json_values, strings
from stepfold.values import JsonText, ModelReply, ModelRequest, NamedTool, ToolDefinition

_Schema: TypeAlias = Mapping[str, object]
_Drawn: TypeAlias = SearchStrategy[object]

_REFERENCES: Final = 3
_MANY: Final = 3
_LONG: Final = 300
_LARGEST: Final = 1.7e308
_FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    "object": (
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("minProperties", "maxProperties", "dependentRequired"),
    ),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("minLength", "maxLength", "pattern"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
# What is written for patterns that are hard to guess: those of dates, times and the like.
_LIKELY: Final = (
    *("2026-11-30", "2026-11-30T12:30:00Z", "2026-11-30T12:30:00", "12:30:00", "P1DT2H", "PT1S"),
    *("00000000-0000-4000-8000-000000000000", "a@example.org", "https://example.org/", "1.5"),
    *("192.0.2.1", "2001:db8::1", "192.0.2.0/24", "AAAA", ""),
)


def schema_documents(*, schema: JsonText | Mapping[str, object]) -> SearchStrategy[object]:
    """Draw documents that a JSON Schema (draft 2020-12) accepts, as plain Python values.

    They are made from the schema, and checked by the decoder that is compiled from it. Optional
    members come and go; members that the schema does not name are drawn where it asks for them.
    Texts are short, and now and then longer than a line where the schema lets them be.
    References are followed three deep, so recursive documents stay small.

    Raises:
        UsageError: the schema is malformed, or has a keyword that is not understood.
    """
    text = schema if isinstance(schema, JsonText) else JsonText.of(schema)
    return _schema_documents(text)


@cache
def _schema_documents(schema: JsonText) -> SearchStrategy[object]:
    check = JsonSchemaForm(schema, where="schema_documents").decoder.check
    root: object = json.loads(schema.text)
    drawn = _Walk(root).documents(root, _REFERENCES)
    return st.nothing() if drawn is None else drawn.filter(lambda document: not check(document))


def replies_to(
    *, request: ModelRequest, min_calls: int = 0, max_calls: int = 2
) -> SearchStrategy[ModelReply]:
    """Draw replies that keep to a request: calls of its tools, or the answer that it asks for.

    Arguments satisfy the schemas of the tools; where JSON is asked for, an answer without calls is
    a document that satisfies its schema. The tool choice is kept.
    """
    choice = request.tool_choice
    tools = [] if choice == "none" else list(request.tools)
    if isinstance(choice, NamedTool):
        tools = [tool for tool in tools if tool.name == choice.tool_name]
    least = max(min_calls, 0 if choice in {"auto", "none"} else 1)
    most = max(max_calls, least) if tools else 0
    answers = st.builds(reply, _answers(request))
    if not most:
        return answers
    calls = st.sampled_from(tools).flatmap(_calls_of)
    several = st.lists(calls, min_size=max(1, least), max_size=most)
    calling = several.map(lambda made: reply(*(call(name, text) for name, text in made)))
    return calling if least else calling | answers


def _answers(request: ModelRequest) -> SearchStrategy[str]:
    wanted = request.response_format
    if wanted is None:
        return strings()
    if wanted.schema is None:
        return json_values().map(lambda document: JsonText.of(document).text)
    return schema_documents(schema=wanted.schema).map(lambda document: JsonText.of(document).text)


def _calls_of(tool: ToolDefinition) -> SearchStrategy[tuple[str, str]]:
    documents = schema_documents(schema=tool.input_schema)
    return documents.map(lambda document: (tool.name, JsonText.of(document).text))


@final
class _Walk:
    """Makes strategies of the schemas of one document; `None` where nothing small will do.

    What it makes may be refused: the decoder has the last word.
    """

    def __init__(self, root: object) -> None:
        self._root: Final = root

    def documents(self, schema: object, depth: int) -> _Drawn | None:
        if schema is False:
            return None
        if not isinstance(schema, dict) or not schema:
            return cast("_Drawn", json_values())
        given = cast("_Schema", schema)
        if "const" in given:
            return st.just(given["const"])
        if "enum" in given:
            options = _items(given["enum"])
            return st.sampled_from(options) if options else None
        if "$ref" in given:
            target = self._resolved(str(given["$ref"]))
            rest = {key: value for key, value in given.items() if key != "$ref"}
            return self.documents(_merged(rest, target), depth - 1) if depth else None
        for key in ("anyOf", "oneOf"):
            if branches := _items(given.get(key)):
                rest = {name: value for name, value in given.items() if name != key}
                return _one_of([self.documents(_merged(rest, one), depth) for one in branches])
        if parts := _items(given.get("allOf")):
            whole: object = {key: value for key, value in given.items() if key != "allOf"}
            for part in parts:
                whole = _merged(whole, self._followed(part))
            return self.documents(whole, depth)
        if "if" in given:
            rest = {key: given[key] for key in given if key not in {"if", "then", "else"}}
            then = _merged(_merged(rest, given["if"]), given.get("then", True))
            otherwise = _merged(rest, given.get("else", True))
            return _one_of([self.documents(then, depth), self.documents(otherwise, depth)])
        return _one_of([self._of_type(given, kind, depth) for kind in _types_of(given)])

    def _of_type(self, schema: _Schema, kind: str, depth: int) -> _Drawn | None:
        match kind:
            case "object":
                return self._objects(schema, depth)
            case "array":
                return self._arrays(schema, depth)
            case "string":
                return _texts(schema)
            case "integer":
                return _integers(schema)
            case "number":
                return _one_of([_integers(schema), _floats(schema)])
            case "boolean":
                return cast("_Drawn", st.booleans())
            case _:
                return st.none()

    def _objects(self, schema: _Schema, depth: int) -> _Drawn | None:
        required: dict[str, _Drawn] = {}
        known = _mapping(schema.get("properties"))
        for name in map(str, _items(schema.get("required"))):
            member = self.documents(self._member(schema, name), depth)
            if member is None:
                return None
            required[name] = member
        optional = {
            name: member
            for name, inner in known.items()
            if name not in required and (member := self.documents(inner, depth)) is not None
        }
        missing = max(0, int(_number(schema, "minProperties", 0)) - len(required))
        if missing:
            named = st.fixed_dictionaries({**required, **optional})
        else:
            named = st.fixed_dictionaries(required, optional=optional)
        fewest = max(0, missing - len(optional))
        is_open = bool(_mapping(schema.get("additionalProperties")))
        others = None
        if fewest or is_open or "patternProperties" in schema:
            others = self._others(schema, depth)
        if others is None:
            return cast("_Drawn", named)
        more = st.lists(others, min_size=fewest, max_size=fewest + _MANY, unique_by=_name_of)
        return cast("_Drawn", st.builds(_with_members, named, more))

    def _others(self, schema: _Schema, depth: int) -> SearchStrategy[tuple[str, object]] | None:
        """Members that are not named, for schemas that ask for more than they name."""
        patterns = _mapping(schema.get("patternProperties"))
        named: list[tuple[SearchStrategy[str], object]] = [
            (st.from_regex(pattern), inner) for pattern, inner in patterns.items()
        ]
        texts = self.documents(_merged({"type": "string"}, schema.get("propertyNames", {})), depth)
        if texts is not None:
            names = cast("SearchStrategy[str]", texts)
            named.append((names, schema.get("additionalProperties", True)))
        pairs = [
            st.tuples(names, values)
            for names, inner in named
            if (values := self.documents(inner, depth)) is not None
        ]
        return st.one_of(pairs) if pairs else None

    @staticmethod
    def _member(schema: _Schema, name: str) -> object:
        """What a schema says of a member of this name."""
        known = _mapping(schema.get("properties"))
        if name in known:
            return known[name]
        for pattern, inner in _mapping(schema.get("patternProperties")).items():
            if re.search(pattern, name):
                return inner
        return schema.get("additionalProperties", True)

    def _arrays(self, schema: _Schema, depth: int) -> _Drawn | None:
        least, most = _number(schema, "minItems", 0), _number(schema, "maxItems", math.inf)
        first: list[_Drawn] = []
        for inner in _items(schema.get("prefixItems"))[: int(min(most, 1_000))]:
            item = self.documents(inner, depth)
            if item is None:
                break
            first.append(item)
        if "contains" in schema:
            wanted = self.documents(schema["contains"], depth)
            count = _number(schema, "minContains", 1)
            if wanted is None and count:
                return None
            first += [wanted] * int(count - len(first)) if wanted is not None else []
        fixed = int(max(least - len(first), 0))
        rest = self.documents(schema.get("items", True), depth)
        if rest is None:
            return None if fixed else cast("_Drawn", st.tuples(*first).map(list))
        room = int(min(max(most - len(first), fixed), fixed + _MANY))
        is_unique = schema.get("uniqueItems") is True
        others = st.lists(
            rest, min_size=fixed, max_size=room, unique_by=_written if is_unique else None
        )
        if not first:
            return cast("_Drawn", others)
        return cast("_Drawn", st.builds(_joined, st.tuples(*first), others))

    def _resolved(self, reference: str) -> object:
        found: object = self._root
        for token in reference.removeprefix("#").split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            items = _items(found)
            found = items[int(key)] if items else _mapping(found)[key]
        return found

    def _followed(self, schema: object) -> object:
        given = _mapping(schema)
        if "$ref" not in given:
            return schema
        rest = {key: value for key, value in given.items() if key != "$ref"}
        return _merged(rest, self._followed(self._resolved(str(given["$ref"]))))


# --- the simple kinds -------------------------------------------------------------------------


def _texts(schema: _Schema) -> _Drawn | None:
    least, most = _number(schema, "minLength", 0), _number(schema, "maxLength", math.inf)
    pattern = schema.get("pattern")
    if not isinstance(pattern, str):
        longest = int(min(most, max(least, 1) + 10))
        letters = st.characters(exclude_categories=["Cs"])
        short = st.text(letters, min_size=int(least), max_size=longest)
        if longest == most:
            return cast("_Drawn", short)
        lengths = st.integers(longest + 1, int(min(most, longest + _LONG)))
        return cast("_Drawn", short | st.builds(operator.mul, letters, lengths))
    fits = re.compile(pattern).search
    likely = [text for text in _LIKELY if fits(text) and least <= len(text) <= most]
    guessed = st.from_regex(pattern).filter(lambda text: least <= len(text) <= most)
    return cast("_Drawn", st.sampled_from(likely) | guessed if likely else guessed)


def _edges(schema: _Schema) -> tuple[float, float]:
    """The smallest and the largest number; whether they are left out is for the decoder to say."""
    low = [_number(schema, key, -math.inf) for key in ("minimum", "exclusiveMinimum")]
    high = [_number(schema, key, math.inf) for key in ("maximum", "exclusiveMaximum")]
    return max(low), min(high)


def _integers(schema: _Schema) -> _Drawn | None:
    low, high = _edges(schema)
    step = _number(schema, "multipleOf", 1)
    least = None if low == -math.inf else math.ceil(low / step)
    most = None if high == math.inf else math.floor(high / step)
    if least is not None and most is not None and least > most:
        return None
    if isinstance(step, int) or step.is_integer():
        return cast("_Drawn", st.integers(least, most).map(lambda count: count * int(step)))
    return cast("_Drawn", st.integers(least, most).map(lambda count: count * step))


def _floats(schema: _Schema) -> _Drawn | None:
    low, high = _edges(schema)
    if "multipleOf" in schema or low > high:
        return None  # multiples are made of integers
    least = None if low == -math.inf else max(-_LARGEST, float(low))
    most = None if high == math.inf else min(_LARGEST, float(high))
    finite = st.floats(least, most, allow_nan=False, allow_infinity=False)
    return cast("_Drawn", finite)


def _types_of(schema: _Schema) -> Sequence[str]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind]
    if several := _items(kind):
        return [str(one) for one in several]
    guessed = [name for name, keys in _FAMILIES.items() if any(key in schema for key in keys)]
    return guessed or ["null", "boolean", "integer", "number", "string", "array", "object"]


# --- reading schemas --------------------------------------------------------------------------


def _merged(one: object, other: object) -> object:
    """A schema that says what both say, as far as that is easily said."""
    if one is False or other is False:
        return False
    first, second = _mapping(one), _mapping(other)
    whole = {**first, **second}
    for key in ("properties", "patternProperties"):
        if key in first and key in second:
            whole[key] = {**_mapping(first[key]), **_mapping(second[key])}
    if "required" in first and "required" in second:
        whole["required"] = [*_items(first["required"]), *_items(second["required"])]
    return whole


def _one_of(strategies: Iterable[_Drawn | None]) -> _Drawn | None:
    some = [strategy for strategy in strategies if strategy is not None]
    return st.one_of(some) if some else None


def _with_members(
    first: Mapping[str, object], more: Iterable[tuple[str, object]]
) -> dict[str, object]:
    return {**dict(more), **first}


def _joined(first: Iterable[object], more: Iterable[object]) -> list[object]:
    return [*first, *more]


def _name_of(member: tuple[str, object]) -> str:
    return member[0]


def _written(document: object) -> str:
    return json.dumps(document, sort_keys=True)


def _mapping(value: object) -> _Schema:
    return cast("_Schema", value) if isinstance(value, dict) else {}


def _items(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def _number(schema: _Schema, key: str, default: float) -> float:
    value = schema.get(key)
    return value if isinstance(value, int | float) else default
