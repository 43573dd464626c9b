"""Searching among tools that are hidden until they are found.

A search is a call that the loop answers itself: which tools it finds is a function of the program
and of the call's words, so that nothing has to be asked or journaled. What was found is offered
from the next step on, for the rest of the run.

Words are compared as they are, without regard to case: a word of the search counts two for a tool
that has it in its name, and one for a tool that has it in its description, if it is longer than two
letters. Names fall apart into words at what is no letter and no digit, and where a capital begins a
word (`getWeather`).
"""

import json
import re
from collections.abc import Iterable

from attrs import evolve

from stepfold.loop._draft import Draft
from stepfold.loop._program import Program, ToolSpec
from stepfold.schema import JsonSchemaForm
from stepfold.values import JsonOutput, JsonText, ToolCall, ToolDefinition, ToolResult

SEARCH_FORM = JsonSchemaForm.of(
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool has to do, in a few words."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    where="tool_search",
)
_IN_NAME = 2
_IN_DESCRIPTION = 1
_SHORT = 2
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def search_spec(name: str, description: str, max_results: int) -> ToolSpec:
    """The tool by which a model finds hidden ones, at most so many at once."""
    definition = ToolDefinition(name, description, SEARCH_FORM.schema)
    check = SEARCH_FORM.decoder.check
    return ToolSpec(definition=definition, check=check, executes=False, searches=max_results)


def answer_search(program: Program, call: ToolCall, most: int, out: Draft) -> ToolResult:
    """Tell what a search has found; it is offered from the next step on."""
    document = json.loads(call.input)
    hidden = (spec.definition for spec in program.tools.values() if spec.defer_loading)
    found = ranked(str(document["query"]), hidden)[:most]
    new = tuple(one.name for one in found if one.name not in out.toolbox.found)
    if new:
        out.toolbox = evolve(out.toolbox, found=(*out.toolbox.found, *new))
    told = [{"name": one.name, "description": one.description} for one in found]
    return ToolResult(
        call.tool_call_id,
        call.tool_name,
        JsonOutput(JsonText.of({"tools": told})),
        provider_options=call.provider_options,
    )


def ranked(query: str, tools: Iterable[ToolDefinition]) -> list[ToolDefinition]:
    """The tools that a query speaks of, the best first; equals stay in their order."""
    wanted = _words(query)
    scored: list[tuple[int, ToolDefinition]] = []
    for tool in tools:
        in_name = wanted & _words(tool.name)
        in_description = {word for word in wanted & _words(tool.description) if len(word) > _SHORT}
        score = _IN_NAME * len(in_name) + _IN_DESCRIPTION * len(in_description)
        if score:
            scored.append((score, tool))
    scored.sort(key=lambda pair: -pair[0])
    return [tool for _, tool in scored]


def _words(text: str) -> set[str]:
    return {word.casefold() for part in _WORD.findall(text) for word in _HUMP.split(part)}
