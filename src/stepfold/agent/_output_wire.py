"""How an output goes over the wire: the document that a model is asked for, and how it is read.

Providers demand an object at the root. So what is no object travels as the one member of one:
`{"elements": […]}` for arrays, `{"result": …}` for everything else.
"""

import json
import re
from collections.abc import Callable
from typing import Literal, TypeAlias, cast, final

from attrs import frozen

from stepfold.loop import OutputSpec, ToolSpec
from stepfold.schema import Decoder, Faults
from stepfold.values import (
    DEFAULT_BOUNDS,
    Failure,
    JsonFormat,
    JsonText,
    NoOutput,
    Outcome,
    Success,
    ToolDefinition,
    UsageError,
    parse_json,
)

Strategy: TypeAlias = Literal["auto", "native", "tool", "prompt"]
"""How a model is brought to give an output.

`native` asks by the provider's own response format, `tool` offers a tool whose arguments are the
output, `prompt` tells the schema in the instructions. `auto` is `native`.
"""

STRATEGIES: tuple[Strategy, ...] = ("auto", "native", "tool", "prompt")
ELEMENTS = "elements"
RESULT = "result"
OUTPUT_TOOL = "final_output"
_TOOL_DESCRIPTION = "Give the final output. This ends the conversation."
_PROMPT = "Answer with one JSON document and nothing else."

_ANY = JsonText("{}")


@final
@frozen(eq=False)
class Wire:
    """The document that carries an output: its schema, and the member of it that is the output."""

    schema: JsonText | None
    member: str | None
    decoder: Decoder | None

    def output_in(self, text: str) -> Outcome[JsonText, NoOutput]:
        """Read the output out of a document; total."""
        parsed = parse_json(text, DEFAULT_BOUNDS)
        if isinstance(parsed, Failure):
            fault = parsed.failure()
            where = "" if fault.position is None else f" (at character {fault.position})"
            message = f"the answer is not JSON: {fault.message}{where}"
            return Failure(NoOutput(message, text, cause="invalid-json"))
        document = parsed.unwrap()
        faults = () if self.decoder is None else self.decoder.check(document)
        if faults:
            message = f"the answer does not fit: {told(faults)}"
            return Failure(NoOutput(message, text, cause="schema-mismatch"))
        if self.member is None:
            return Success(JsonText(text))
        return Success(JsonText.of(cast("dict[str, object]", document)[self.member]))  # it fits


def told(faults: Faults, within: str = "") -> str:
    """Faults in words for a model; `within` is a pointer to what they are in."""
    return "; ".join(
        f"{(within + fault.pointer) or '(all of it)'}: {fault.message}" for fault in faults
    )


def wire_of(schema: JsonText, member: str = RESULT) -> Wire:
    """The document for an output of this schema: itself, or an object around what is none."""
    tree: dict[str, object] = json.loads(schema.text)
    if tree.get("type") == "object":
        return _wire(schema, None)
    return _wire(enveloped(schema, member), member)


def array_wire(element: JsonText, least: int | None, most: int | None) -> Wire:
    """The document for an array of elements of this schema."""
    bounds = {"minItems": least, "maxItems": most}
    return _wire(enveloped(element, ELEMENTS, bounds), ELEMENTS)


def any_wire(strategy: Strategy) -> Wire:
    """The document for any JSON; the arguments of a tool have to be an object."""
    return _wire(enveloped(_ANY, RESULT), RESULT) if strategy == "tool" else Wire(None, None, None)


def _wire(schema: JsonText, member: str | None) -> Wire:
    return Wire(schema, member, Decoder(schema, where="output"))


def enveloped(
    schema: JsonText, member: str, bounds: dict[str, int | None] | None = None
) -> JsonText:
    """An object whose one member has this schema, or with bounds, is an array of such items."""
    carried: dict[str, object] = json.loads(schema.text)
    definitions = carried.pop("$defs", None)
    if bounds is not None:
        limits = {name: limit for name, limit in bounds.items() if limit is not None}
        carried = {"type": "array", "items": carried, **limits}
    hoisted = {} if definitions is None else {"$defs": definitions}
    return JsonText.of(
        {
            "type": "object",
            "properties": {member: carried},
            "required": [member],
            "additionalProperties": False,
            **hoisted,
        }
    )


# --- asking -----------------------------------------------------------------------------------


@final
@frozen(kw_only=True)
class Asking:
    """How a model is asked for an output, checked when it is made.

    Raises:
        UsageError: the strategy is none, or the number of retries no whole number from 0.
    """

    strategy: Strategy = "auto"
    retries: int = 0
    name: str
    description: str | None = None

    def __attrs_post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            known = ", ".join(map(repr, STRATEGIES))
            raise UsageError(f"strategy: expected one of {known}, got {self.strategy!r}")
        if type(self.retries) is not int or self.retries < 0:
            raise UsageError(f"retries: expected a whole number from 0, got {self.retries!r}")


def asked_for(
    what: str, wire: Wire, asking: Asking, *, binds: bool
) -> tuple[OutputSpec, ToolSpec | None]:
    """What the loop is told of an output, and the tool by which it is given, if it is by one."""
    read: Callable[[str], Outcome[JsonText, NoOutput]] = wire.output_in
    if asking.strategy == "tool" and wire.schema is not None and wire.decoder is not None:
        definition = ToolDefinition(
            OUTPUT_TOOL, asking.description or _TOOL_DESCRIPTION, wire.schema
        )
        tool = ToolSpec(
            definition=definition,
            check=wire.decoder.check,
            executes=False,
            binds=binds,
            is_output=True,
        )
        spec = OutputSpec(what, read, binds=binds, retries=asking.retries, tool=OUTPUT_TOOL)
        return spec, tool
    if asking.strategy == "prompt":
        instructions = _PROMPT
        if wire.schema is not None:
            instructions += f" It has to fit this JSON Schema:\n{wire.schema.text}"
        if asking.description is not None:
            instructions += f"\nIt is: {asking.description}"
        spec = OutputSpec(
            what,
            lambda text: read(unfenced(text)),
            binds=binds,
            retries=asking.retries,
            instructions=instructions,
        )
        return spec, None
    wanted = JsonFormat(wire.schema, name=asking.name, description=asking.description)
    return OutputSpec(what, read, wanted, binds=binds, retries=asking.retries), None


# --- fences -----------------------------------------------------------------------------------

_opening = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n")
_opening_begun = re.compile(r"(?:`{1,2}|```(?:j|js|jso|json|J|JS|JSO|JSON)?[ \t]*\r?)\Z")
_CLOSING = "\n```"
_BEGINNINGS = ("{", "[", '"')


def unfenced(text: str) -> str:
    """The JSON in an answer: all of it if it begins as JSON does, else what is in its first fence.

    A fence is ` ```json ` or ` ``` ` at the end of a line, up to the next line that begins with
    ` ``` `, or to the end of the text. Text without a fence is given as it is.
    """
    if text.lstrip()[:1] in _BEGINNINGS:
        return text
    opening = _opening.search(text)
    if opening is None:
        return text
    begin = opening.end() - 1  # the end of the line, since the fence may close at once
    end = text.find(_CLOSING, begin)
    return text[begin:] if end < 0 else text[begin:end]


@final
class FenceReader:
    """`unfenced` for text that is still coming: gives the JSON in it as soon as it is certain.

    Of text without a fence it gives nothing, since a fence may still come.
    """

    def __init__(self) -> None:
        self._state: Literal["begin", "plain", "before", "inside", "after"] = "begin"
        self._held = ""  # what may be the beginning of a fence

    def feed(self, delta: str) -> str:
        """Take in more text, and give more JSON."""
        text = self._held + delta
        self._held = ""
        if self._state == "begin" and not text.isspace() and text:
            self._state = "plain" if text.lstrip()[0] in _BEGINNINGS else "before"
        if self._state == "before":
            opening = _opening.search(text)
            if opening is not None:
                self._state = "inside"
                return self._inside(text[opening.end() - 1 :])
            begun = _opening_begun.search(text)
            self._held = "" if begun is None else begun[0]
        return self._inside(text) if self._state == "inside" else text * (self._state == "plain")

    def _inside(self, text: str) -> str:
        end = text.find(_CLOSING)
        if end >= 0:
            self._state = "after"
            return text[:end]
        for size in range(len(_CLOSING) - 1, 0, -1):
            if text.endswith(_CLOSING[:size]):
                self._held = text[-size:]
                return text[:-size]
        return text
