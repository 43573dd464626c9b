"""What each family of providers accepts of JSON Schema, and what is lost on the way there.

    draft-2020-12   everything, unchanged; plain tools of Anthropic and OpenAI take it as well
    draft-07        `definitions`, arrays in `items`; for older clients
    openai-strict   structured outputs of OpenAI: every property is required, an optional one
                    becomes a union with null, every object is closed
    anthropic       structured outputs and strict tools of Anthropic: no bounds on numbers and
                    lengths, no recursion
    google          the `Schema` of Gemini, a subset of OpenAPI 3.0: no references, `nullable`,
                    enums of strings

A translation may only widen: a value of the original schema stays acceptable (but for the nulls
of openai-strict, which `without_added_nulls` takes out of the answer), and the structural decoder
checks the original anyway. What is dropped is told to the model in the description where it is a
number or a word, and to the caller in `dropped`. What cannot be widened is a failure; send such a
tool without strictness then.
"""

import json
from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.schema._accept import Compiler
from stepfold.schema._faults import SchemaFault, pointer_to
from stepfold.schema._grammars import WORDS_OF_PATTERN
from stepfold.schema._keywords import ASSERTED, resolved, subschemas
from stepfold.schema._kinds import is_array, is_object, items_of, members_of
from stepfold.values._json import JsonText, dump_json
from stepfold.values._outcome import Failure, Outcome, Success

DialectName: TypeAlias = Literal[
    "draft-2020-12", "draft-07", "openai-strict", "anthropic", "google"
]
"""A family of providers, or a draft of JSON Schema; `to_dialect` writes what each accepts."""

Document: TypeAlias = dict[str, object]


@final
@frozen(order=False)
class Translated:
    """A schema in another dialect; `dropped` are JSON pointers to what restricts no longer."""

    schema: JsonText
    dropped: tuple[str, ...] = ()


@final
@frozen(order=False, kw_only=True)
class _Rules:
    """What one dialect understands beside `type`, `properties`, `required`, `items`, `enum`."""

    keywords: frozenset[str]
    formats: frozenset[str]
    requires_all: bool = False
    closed_only: bool = False
    has_references: bool = True
    recursion: Literal["kept", "cut", "refused"] = "kept"
    has_null: bool = True
    needs_type: bool = False
    least_items: int | None = None


_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_ALWAYS = frozenset(
    {"type", "properties", "required", "items", "enum", "anyOf", "description", "title"}
)
_RULES: dict[str, _Rules] = {
    "openai-strict": _Rules(
        keywords=_ALWAYS
        | {"additionalProperties", "$ref", "$defs", "const", "pattern", "format", "multipleOf"}
        | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"},
        formats=_FORMATS,
        requires_all=True,
        closed_only=True,
        needs_type=True,
    ),
    "anthropic": _Rules(
        keywords=_ALWAYS
        | {"additionalProperties", "$ref", "$defs", "const", "pattern", "format", "minItems"}
        | {"default", "allOf"},
        formats=_FORMATS | {"uri"},
        closed_only=True,
        recursion="refused",
        least_items=1,
    ),
    "google": _Rules(
        keywords=_ALWAYS
        | {"nullable", "pattern", "format", "minimum", "maximum", "minItems", "maxItems"}
        | {"minLength", "maxLength", "minProperties", "maxProperties"},
        formats=frozenset({"date-time"}),
        has_references=False,
        recursion="cut",
        has_null=False,
    ),
}


def to_dialect(schema: JsonText, dialect: DialectName) -> Outcome[Translated, SchemaFault]:
    """Translate a schema (draft 2020-12) for a family of providers; total for valid schemas.

    A failure says which part has no form in the dialect.
    """
    if dialect == "draft-2020-12":
        return Success(Translated(schema))
    root = members_of(json.loads(schema.text))
    translation = (
        _Draft07() if dialect == "draft-07" else _Translation(root, _RULES[dialect], dialect)
    )
    try:
        document = translation.document(root)
    except _UntranslatableError as error:
        return Failure(error.fault)
    return Success(Translated(JsonText(dump_json(document)), tuple(translation.dropped)))


def without_added_nulls(schema: JsonText, value: object) -> object:
    """Take out the nulls that openai-strict makes a model write for what it leaves out.

    `schema` is the original one. A null goes where the property is optional and does not accept
    null; everything else is unchanged, and `value` itself is not touched.
    """
    root: object = json.loads(schema.text)
    return _Nulls(root).without(root, value)


class _UntranslatableError(Exception):
    """Leaves the translation; carries the fault."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.fault: SchemaFault = SchemaFault(pointer, message)


class _Translation:
    """One walk over a schema by the rules of a dialect."""

    def __init__(self, root: Document, rules: _Rules, dialect: str) -> None:
        self.root: Document = root
        self.rules: _Rules = rules
        self.dialect: str = dialect
        self.dropped: list[str] = []
        self._compiler: Compiler = Compiler(root)
        self._within: list[str] = []

    def document(self, root: Document) -> Document:
        """Translate the whole schema."""
        if self.rules.recursion == "refused":
            self._refuse_recursion()
        if self.rules.requires_all and root.get("type") != "object":
            raise self._untranslatable("", "an object at the root")
        return self._schema(root, "")

    def _untranslatable(self, pointer: str, expected: str) -> _UntranslatableError:
        message = f"expected {expected}, since {self.dialect} has no form for anything else here"
        return _UntranslatableError(pointer, message)

    def _refuse_recursion(self) -> None:
        ended: set[str] = set()

        def follow(schema: object, pointer: str, came_from: dict[str, str]) -> None:
            if not is_object(schema):
                return
            reference = schema.get("$ref")
            if isinstance(reference, str) and reference not in ended:
                if reference in came_from:
                    expected = "a type that does not contain itself"
                    raise self._untranslatable(came_from[reference], expected)
                follow(resolved(self.root, reference), pointer, {**came_from, reference: pointer})
                ended.add(reference)
            for member, here in subschemas(schema, pointer):
                follow(member, here, came_from)

        follow(self.root, "", {})

    def _schema(self, schema: object, pointer: str) -> Document:
        if not is_object(schema):
            if schema is False or self.rules.needs_type:
                raise self._untranslatable(pointer, "a schema with a type")
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._reference(reference, schema, pointer)
        source = self._simplified(schema, pointer)
        if self.rules.needs_type and not source.keys() & {"type", "anyOf", "enum", "const"}:
            raise self._untranslatable(pointer, "a schema with a type")
        written: Document = {}
        notes: list[str] = []
        for keyword, value in source.items():
            here = pointer_to(pointer, keyword)
            if keyword in self.rules.keywords and self._fits(keyword, value):
                written[keyword] = self._keyword(keyword, value, here)
            elif keyword in ASSERTED and value is not False:
                self.dropped.append(here)
                if keyword == "enum":
                    notes.append(f"one of {dump_json(value)}")
                elif not is_object(value) and not is_array(value):
                    notes.append(f"{keyword}: {dump_json(value)}")
        if source.get("type") == "object":
            self._close(written, source, pointer)
        return self._noted(written, notes)

    def _fits(self, keyword: str, value: object) -> bool:
        """Whether the dialect understands this value of a keyword it knows."""
        if keyword == "format":
            return value in self.rules.formats
        if keyword == "minItems" and self.rules.least_items is not None:
            return isinstance(value, int) and value <= self.rules.least_items
        if keyword == "enum" and not self.rules.has_null:
            return all(isinstance(option, str) for option in items_of(value))
        return True

    def _keyword(self, keyword: str, value: object, pointer: str) -> object:
        if keyword in ("properties", "$defs"):
            return {
                name: self._schema(member, pointer_to(pointer, name))
                for name, member in members_of(value).items()
            }
        if keyword in ("anyOf", "allOf"):
            return [
                self._schema(member, pointer_to(pointer, index))
                for index, member in enumerate(items_of(value))
            ]
        return self._schema(value, pointer) if keyword == "items" else value

    def _simplified(self, schema: Document, pointer: str) -> Document:
        """The same schema in fewer keywords."""
        source = dict(schema) if self.rules.has_null else _with_nullable(dict(schema))
        pattern, form = source.get("pattern"), source.get("format")
        if isinstance(pattern, str) and pattern in WORDS_OF_PATTERN:
            del source["pattern"]
            if form not in self.rules.formats:
                words = WORDS_OF_PATTERN[pattern]
                source["description"] = _sentences(source.get("description"), words)
                self.dropped.append(pointer_to(pointer, "pattern"))
        if "oneOf" in source and "anyOf" not in source:
            source["anyOf"] = source.pop("oneOf")
            self.dropped.append(pointer_to(pointer, "oneOf"))
        if "prefixItems" in source:
            source["items"] = {"anyOf": _distinct(items_of(source.pop("prefixItems")))}
            self.dropped.append(pointer_to(pointer, "prefixItems"))
        return source

    def _close(self, written: Document, source: Document, pointer: str) -> None:
        rest = source.get("additionalProperties", True)
        if not self.rules.closed_only:
            return
        if rest is not False or "properties" not in source:
            raise self._untranslatable(pointer, "an object with known properties and no others")
        if not self.rules.requires_all:
            return
        properties = members_of(written.get("properties"))
        required = items_of(source.get("required"))
        for name, member in members_of(source.get("properties")).items():
            if name not in required and not self._compiler.compiled(member)(None):
                properties[name] = _or_null(members_of(properties[name]))
        written["required"] = list(properties)

    def _reference(self, reference: str, schema: Document, pointer: str) -> Document:
        if self.rules.has_references:
            # Words beside a reference are refused by OpenAI; the definition has its own.
            return {"$ref": reference}
        if reference in self._within:
            self.dropped.append(pointer_to(pointer, "$ref"))
            return {"type": "object"}
        self._within.append(reference)
        target = members_of(resolved(self.root, reference))
        words = {"description": schema["description"]} if "description" in schema else {}
        written = self._schema({**target, **words}, pointer)
        self._within.pop()
        return written

    def _noted(self, written: Document, notes: list[str]) -> Document:
        if notes:
            written["description"] = _sentences(written.get("description"), ", ".join(notes))
        return written


class _Draft07:
    """The older spelling; nothing is lost but the counts of `contains`."""

    def __init__(self) -> None:
        self.dropped: list[str] = []

    def document(self, root: Document) -> Document:
        """Translate the whole schema."""
        return members_of(self._schema(root, ""))

    def _schema(self, schema: object, pointer: str) -> object:
        if not is_object(schema):
            return schema
        written: Document = {}
        for keyword, value in schema.items():
            here = pointer_to(pointer, keyword)
            if keyword == "$defs":
                written["definitions"] = self._each(value, here)
            elif keyword in ("properties", "patternProperties", "definitions"):
                written[keyword] = self._each(value, here)
            elif keyword in ("anyOf", "allOf", "oneOf", "prefixItems"):
                items = [
                    self._schema(item, pointer_to(here, index))
                    for index, item in enumerate(items_of(value))
                ]
                written["items" if keyword == "prefixItems" else keyword] = items
            elif keyword == "items":
                name = "additionalItems" if "prefixItems" in schema else keyword
                written[name] = self._schema(value, here)
            elif keyword in _NESTED:
                written[keyword] = self._schema(value, here)
            elif keyword == "dependentRequired":
                written["dependencies"] = value
            elif keyword in ("minContains", "maxContains"):
                self.dropped.append(here)
            elif keyword == "$ref":
                written[keyword] = str(value).replace("#/$defs/", "#/definitions/")
            else:
                written[keyword] = value
        if "$ref" in written and len(written) > 1:
            # What stands beside a reference is ignored in draft-07.
            written = {"allOf": [{"$ref": written.pop("$ref")}], **written}
        return written

    def _each(self, value: object, pointer: str) -> Document:
        return {
            name: self._schema(member, pointer_to(pointer, name))
            for name, member in members_of(value).items()
        }


_NESTED = ("additionalProperties", "contains", "else", "if", "not", "propertyNames", "then")


class _Nulls:
    """Takes added nulls out of one value."""

    def __init__(self, root: object) -> None:
        self.root: object = root
        self.compiler: Compiler = Compiler(root)

    def without(self, schema: object, value: object) -> object:
        """The value without nulls at optional properties that do not accept null."""
        if not is_object(schema):
            return value
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self.without(resolved(self.root, reference), value)
        for member in items_of(schema.get("anyOf")):
            cleaned = self.without(member, value)
            if self.compiler.compiled(member)(cleaned):
                return cleaned
        if is_array(value):
            item = schema.get("items")
            prefix = items_of(schema.get("prefixItems"))
            return [
                self.without(prefix[index] if index < len(prefix) else item, part)
                for index, part in enumerate(value)
            ]
        if is_object(value):
            return self._members(schema, value)
        return value

    def _members(self, schema: Document, members: Document) -> Document:
        properties = members_of(schema.get("properties"))
        required = items_of(schema.get("required"))
        cleaned: Document = {}
        for name, member in members.items():
            known = properties.get(name)
            is_added = member is None and name in properties and name not in required
            if not (is_added and not self.compiler.compiled(known)(None)):
                cleaned[name] = self.without(known, member)
        return cleaned


def _sentences(description: object, words: str) -> str:
    return f"{description} ({words})" if isinstance(description, str) and description else words


def _distinct(schemas: list[object]) -> list[object]:
    return list({dump_json(schema): schema for schema in schemas}.values())


def _or_null(written: Document) -> Document:
    if is_array(members := written.get("anyOf")) and written.keys() <= {"anyOf", "description"}:
        return {**written, "anyOf": [*members, {"type": "null"}]}
    description = {"description": written["description"]} if "description" in written else {}
    rest = {keyword: value for keyword, value in written.items() if keyword != "description"}
    return {**description, "anyOf": [rest, {"type": "null"}]}


def _with_nullable(source: Document) -> Document:
    """Nulls in unions and enums become `nullable`, `const` an enum, several types a union."""
    if "const" in source:
        source["enum"] = [source.pop("const")]
    types = source.get("type")
    if is_array(types):
        del source["type"]
        source["anyOf"] = [{"type": name} for name in types]
    members = source.get("anyOf")
    if is_array(members) and {"type": "null"} in members:
        rest = [member for member in members if member != {"type": "null"}]
        source["nullable"] = True
        if len(rest) == 1 and is_object(rest[0]) and "$ref" not in rest[0]:
            del source["anyOf"]
            return {**rest[0], **source}
        source["anyOf"] = rest
    values = source.get("enum")
    if is_array(values) and None in values:
        source["enum"] = [value for value in values if value is not None]
        source["nullable"] = True
    return source
