"""Tell a model that knows no tools what it may do, and what it did, in plain text.

Earlier calls are told as the same JSON that the model itself would write, earlier results as
messages of the user, so that the conversation is its own best example.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from attrs import evolve

from stepfold.loop import convert_to_model_prompt
from stepfold.shell._emulate_schema import AnswerForm
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    ContentOutput,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    JsonObject,
    JsonOutput,
    JsonText,
    Message,
    Success,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolOutput,
    ToolResult,
    UserMessage,
    UserPart,
    dump_json,
    parse_json,
)

_EXAMPLES: Final = """\
Examples:
user: What is the size of box 12?
assistant: {"tool":"box_size","arguments":{"box":"12"}}
user: Result of box_size: "40 cm"
assistant: {"answer":"The size of box 12 is 40 cm."}

user: Who wrote "Emma"?
assistant: {"tool":"find_author","arguments":{"title":"Emma"}}
user: Result of find_author: {"name":"Jane Austen","born":1775}
assistant: {"answer":"Jane Austen wrote it."}"""

# --- what it may do ---------------------------------------------------------------------------


def instructions_of(instructions: str, form: AnswerForm, *, with_examples: bool) -> str:
    """The instructions of the program, then the tools and the form of the answer."""
    paragraphs = [instructions] if instructions else []
    paragraphs.append("\n".join(("Tools:", *map(_described, form.tools))))
    if with_examples and form.takes_text:
        paragraphs.append(_EXAMPLES)
        paragraphs.append(
            "Reply with one JSON object, as in the examples."
            " Use a tool first, then answer with its result."
        )
    else:
        paragraphs.append(_form_described(form))
    return "\n\n".join(paragraphs)


def _described(tool: ToolDefinition) -> str:
    schema = tool.input_schema.value
    shown: object = schema
    if isinstance(schema, JsonObject):
        shown = schema.get("properties", {}) if _is_flat(schema) else schema
    examples = "".join(f" For example: {example.text}" for example in tool.input_examples)
    description = " ".join(tool.description.split())
    return f"- {tool.name}: {description} Arguments: {dump_json(shown)}{examples}"


def _is_flat(schema: JsonObject) -> bool:
    """Whether the properties alone say all: each is required, and no reference leads elsewhere."""
    properties = schema.get("properties", JsonObject({}))
    required = schema.get("required", ())
    return (
        isinstance(properties, JsonObject)
        and isinstance(required, tuple)
        and set(properties) == set(required)
        and set(schema) <= {"type", "properties", "required", "additionalProperties", "title"}
    )


def _form_described(form: AnswerForm) -> str:
    lines = ['Reply with one JSON object. To use a tool: {"tool":"<name>","arguments":{...}}.']
    if form.takes_text:
        lines.append('When you know enough, or need no tool: {"answer":"<text>"}.')
    if form.output is not None:
        lines.append('When you know enough: {"output":<value>}.')
        lines.append(f"The value has this schema: {form.output.text}")
    return "\n".join(lines)


# --- what it did ------------------------------------------------------------------------------


def has_tool_parts(messages: Sequence[Message]) -> bool:
    """Whether any of them tells of a call, so that a server without tools would refuse it."""
    return any(map(_has_tool_parts, reversed(messages)))


def _has_tool_parts(message: Message) -> bool:
    match message:
        case ToolMessage():
            return True
        case AssistantMessage(content):
            return any(
                isinstance(part, ToolCall | ToolResult | ApprovalRequest) for part in content
            )
        case SystemMessage() | UserMessage():
            return False


def plain_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with calls and results told as text; all other text as it is."""
    return _told(messages, _plain_text)


def formed_messages(messages: Sequence[Message], *, takes_output: bool) -> tuple[Message, ...]:
    """The messages as if the model had always answered in the form."""
    return _told(messages, _output_text if takes_output else _answer_text)


def _told(messages: Sequence[Message], write: Callable[[str], str]) -> tuple[Message, ...]:
    told = (_message(message, write) for message in convert_to_model_prompt(messages))
    return tuple(message for message in told if message is not None)


@lru_cache(maxsize=4096)  # a history grows, and is told anew at each step
def _message(message: Message, write: Callable[[str], str]) -> Message | None:
    match message:
        case SystemMessage() | UserMessage():
            return message
        case AssistantMessage(content, provider_options=options):
            told = tuple(_assistant_part(part, write) for part in content)
            if told == content:
                return message
            return AssistantMessage(told, provider_options=options)
        case ToolMessage(content, provider_options=options):
            parts = [piece for part in content for piece in _result_parts(part)]
            return UserMessage(tuple(parts), provider_options=options) if parts else None


def _assistant_part(part: AssistantPart, write: Callable[[str], str]) -> AssistantPart:
    match part:
        case Text(text):
            return evolve(part, text=write(text))
        case ToolCall(_, name, arguments, provider_options=options):
            return Text(_call_text(name, arguments), provider_options=options)
        case ToolResult(_, name, output, provider_options=options):
            return Text(_result_text(name, output), provider_options=options)
        case _:
            return part


def _plain_text(text: str) -> str:
    return text


def _answer_text(text: str) -> str:
    return dump_json({"answer": text})


def _output_text(text: str) -> str:
    match parse_json(text):
        case Success(value):
            return dump_json({"output": value})
        case _:
            return _answer_text(text)


def _call_text(name: str, arguments: str) -> str:
    match parse_json(arguments):
        case Success(value):
            return dump_json({"tool": name, "arguments": value})
        case _:
            return dump_json({"tool": name, "arguments": arguments})


def _result_parts(part: ToolResult | ApprovalResponse) -> Iterator[UserPart]:
    match part:
        case ToolResult(_, name, output):
            yield Text(_result_text(name, output))
            if isinstance(output, ContentOutput):
                yield from (item for item in output.value if isinstance(item, File))
        case ApprovalResponse():
            pass


def _result_text(name: str, output: ToolOutput) -> str:
    match output:
        case TextOutput(text):
            return f"Result of {name}: {text}"
        case JsonOutput(value):
            return f"Result of {name}: {_one_line(value)}"
        case ErrorTextOutput(text):
            return f"Error of {name}: {text}"
        case ErrorJsonOutput(value):
            return f"Error of {name}: {_one_line(value)}"
        case DeniedOutput(reason):
            return f"The use of {name} was denied{f': {reason}' if reason else ''}."
        case ContentOutput(parts):
            texts = "\n".join(item.text for item in parts if isinstance(item, Text))
            return f"Result of {name}: {texts}"


def _one_line(value: JsonText) -> str:
    return dump_json(value.value)
