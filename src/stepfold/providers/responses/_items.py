"""Items of a response as parts of a reply: the same for a body and for the end of a stream.

    message                 Text (a refusal is marked), then the sources that its texts cite
    reasoning               Reasoning: one for each summary, then one for each text of thoughts
    function_call           ToolCall, answered here
    custom_tool_call        ToolCall, answered here; its text is the member `input`
                            (of xAI, which runs these itself: ToolCall of the provider)
    computer_call, apply_patch_call, local_shell_call, shell_call on this machine,
    tool_search_call by the client
                            ToolCall, answered here
    web_search_call, file_search_call, code_interpreter_call, shell_call in a container,
    tool_search_call by the server, mcp_call
                            ToolCall and ToolResult (ToolError if it failed) of the provider
    image_generation_call   the same, and the image as File
    shell_call_output, tool_search_output
                            ToolResult of the provider
    mcp_approval_request    ToolCall of the provider and ApprovalRequest
    anything else           Custom

What a part has no place for stays in its `provider_options`, so that the item can be written
again: `item_id`, `phase`, `encrypted_content` of texts and reasoning, `item` (the members that
are not in the part) of everything else.
"""

from base64 import b64decode
from typing import TypeAlias, final

from stepfold.providers._json import array_of, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, unused_call_id
from stepfold.providers._wire import to_wire
from stepfold.values import (
    EMPTY_OBJECT,
    ApprovalRequest,
    Custom,
    DocumentSource,
    File,
    FileBytes,
    JsonOutput,
    JsonText,
    Reasoning,
    ReplyPart,
    Text,
    ToolCall,
    ToolError,
    ToolResult,
    UrlSource,
)

BlockKey: TypeAlias = tuple[str, int]
"""Which text of an item: `part`, `summary` or `content`, and its place there."""
KeyedPart: TypeAlias = tuple[BlockKey | None, ReplyPart]
"""A part, and the text of the item that it is made of."""

# The name of the tool, the members that are its input, and those that are its result.
_TOOLS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "apply_patch_call": ("apply_patch", ("operation",), ()),
    "code_interpreter_call": ("code_interpreter", ("code", "container_id"), ("outputs",)),
    "computer_call": ("computer", ("action", "actions", "pending_safety_checks"), ()),
    "file_search_call": ("file_search", ("queries",), ("results",)),
    "image_generation_call": ("image_generation", (), ("revised_prompt",)),
    "local_shell_call": ("local_shell", ("action",), ()),
    "mcp_approval_request": ("mcp", (), ()),
    "mcp_call": ("mcp", (), ("output", "error")),
    "shell_call": ("shell", ("action",), ()),
    "tool_search_call": ("tool_search", (), ()),
    "web_search_call": ("web_search", ("action",), ()),
}
_OUTPUTS = {
    "shell_call_output": ("shell", ("output",)),
    "tool_search_output": ("tool_search", ("tools",)),
}
_OF_THE_CLIENT = frozenset({"apply_patch_call", "computer_call", "local_shell_call"})
# Their results come as items of their own.
_ANSWERED_APART = frozenset({"shell_call", "tool_search_call", "mcp_approval_request"})
# These have no tools of the caller's with a text for their input: such calls are their own.
_RUN_CUSTOM_TOOLS = frozenset({"xai"})
_AT_REST = frozenset({None, "completed", "failed", "incomplete"})


@final
class ItemReader:
    """Makes parts of the items of one response, in order."""

    __slots__ = ("_provider", "_sources", "_used", "has_calls", "has_refusal", "logprobs")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._used: set[str] = set()
        self._sources = 0
        self.has_calls: bool = False
        self.has_refusal: bool = False
        self.logprobs: list[object] = []

    def is_client_call(self, item: dict[str, object]) -> bool:
        """Whether an item is a call that is answered here."""
        kind = text_of(item.get("type")) or ""
        if kind == "custom_tool_call":
            return self._provider not in _RUN_CUSTOM_TOOLS
        if kind == "function_call" or kind in _OF_THE_CLIENT:
            return True
        if kind == "tool_search_call":
            return item.get("execution") == "client"
        place = text_of(object_of(item.get("environment")).get("type"))
        return kind == "shell_call" and place in {None, "local"}

    def is_hosted(self, item: dict[str, object]) -> bool:
        """Whether an item is neither said by the model nor a call that is answered here."""
        kind = text_of(item.get("type"))
        return kind not in {"message", "reasoning"} and not self.is_client_call(item)

    def call_id_of(self, item: dict[str, object]) -> str:
        """The id of a call, or one of our own where it is blank or was used before."""
        given = text_of(item.get("call_id")) or text_of(item.get("id"))
        return unused_call_id(given, self._used)

    def parts(self, item: dict[str, object], call_id: str | None = None) -> list[KeyedPart] | None:
        """The parts of an item; `None` for a call that names no tool.

        `call_id` is the one that a stream has given to the call already.
        """
        kind = text_of(item.get("type")) or "item"
        if kind == "message" and text_of(item.get("role")) in {None, "assistant"}:
            return self._message(item)
        if kind == "reasoning":
            return self._reasoning(item)
        if kind in {"function_call", "custom_tool_call"}:
            call = self._named_call(kind, item, call_id)
            return None if call is None else [(None, call)]
        if kind in _OUTPUTS:
            return [(None, self._output(kind, item))]
        if kind in _TOOLS:
            return [(None, part) for part in self._call(kind, item, call_id)]
        return [(None, self._custom(kind, {"item": item}))]

    def sources(self, annotations: object) -> list[KeyedPart]:
        """What a text rests on."""
        return [(None, self._source(note)) for note in map(object_of, array_of(annotations))]

    # --- what is said -------------------------------------------------------------------------

    def _message(self, item: dict[str, object]) -> list[KeyedPart]:
        parts: list[KeyedPart] = []
        sources: list[KeyedPart] = []
        own = {
            name: kept
            for name, kept in (
                ("item_id", text_of(item.get("id"))),
                ("phase", text_of(item.get("phase"))),
            )
            if kept is not None
        }
        for index, piece in enumerate(map(object_of, array_of(item.get("content")))):
            kind = text_of(piece.get("type")) or "content"
            if kind == "output_text":
                text = text_of(piece.get("text"))
                if text:
                    options = self._options(own)
                    parts.append((("part", index), Text(text, provider_options=options)))
                sources += self.sources(piece.get("annotations"))
                self.logprobs += array_of(piece.get("logprobs"))
            elif kind == "refusal":
                text = text_of(piece.get("refusal"))
                if text:
                    self.has_refusal = True
                    options = self._options({**own, "refusal": True})
                    parts.append((("part", index), Text(text, provider_options=options)))
            else:
                parts.append((None, self._custom(kind, {"content": piece})))
        return parts + sources

    def _reasoning(self, item: dict[str, object]) -> list[KeyedPart]:
        item_id, sealed = text_of(item.get("id")), text_of(item.get("encrypted_content"))
        texts: list[tuple[BlockKey, str]] = []
        for name in ("summary", "content"):
            for index, piece in enumerate(map(object_of, array_of(item.get(name)))):
                text = text_of(piece.get("text"))
                if text:
                    texts.append(((name, index), text))
        if not texts and (item_id is not None or sealed is not None):
            texts.append((("summary", 0), ""))
        parts: list[KeyedPart] = []
        for key, text in texts:
            own: dict[str, object] = {} if item_id is None else {"item_id": item_id}
            if sealed is not None and not parts:
                own["encrypted_content"] = sealed
            if key[0] == "content":
                own["reasoning_text"] = True
            parts.append((key, Reasoning(text, provider_options=self._options(own))))
        return parts

    def _source(self, note: dict[str, object]) -> ReplyPart:
        kind = text_of(note.get("type")) or "annotation"
        url, title = text_of(note.get("url")), text_of(note.get("title"))
        file_id, filename = text_of(note.get("file_id")), text_of(note.get("filename"))
        source_id = f"source-{self._sources}"
        rest = {key: v for key, v in note.items() if key not in {"url", "title", "filename"}}
        if url is not None:
            self._sources += 1
            return UrlSource(source_id, url, title=title, provider_options=self._options(rest))
        if file_id is not None or filename is not None:
            self._sources += 1
            return DocumentSource(
                source_id,
                "text/plain",
                filename or file_id or "",
                filename=filename,
                provider_options=self._options(rest),
            )
        return self._custom(kind, {"annotation": note})

    # --- calls --------------------------------------------------------------------------------

    def _named_call(
        self, kind: str, item: dict[str, object], call_id: str | None
    ) -> ToolCall | None:
        name = text_of(item.get("name"))
        if not name:
            return None
        is_ours = self.is_client_call(item)
        self.has_calls = self.has_calls or is_ours
        member = "arguments" if kind == "function_call" else "input"
        text = text_of(item.get(member)) or ""
        if kind == "custom_tool_call" and is_ours:
            text = to_wire({"input": text}).decode()
        return ToolCall(
            call_id or self.call_id_of(item),
            name,
            text,
            provider_executed=not is_ours,
            provider_options=self._rest(item, ("name", member)),
        )

    def _call(self, kind: str, item: dict[str, object], call_id: str | None) -> list[ReplyPart]:
        name, inputs, results = _TOOLS[kind]
        call_id = call_id or self.call_id_of(item)
        is_ours = self.is_client_call(item)
        self.has_calls = self.has_calls or is_ours
        arguments = item.get("arguments")
        if name == "mcp":
            name = f"mcp.{text_of(item.get('name')) or ''}"
        if isinstance(arguments, str):
            text = text_of(arguments) or ""
            taken: tuple[str, ...] = ("arguments",)
        elif kind == "tool_search_call":
            text = (kept_json(arguments) or EMPTY_OBJECT).text
            taken = ("arguments",)
        else:
            given = {member: item[member] for member in inputs if member in item}
            text = (kept_json(given) or EMPTY_OBJECT).text
            taken = inputs
        is_dynamic = name.startswith("mcp.")
        is_answered = not is_ours and kind not in _ANSWERED_APART
        is_answered = is_answered and text_of(item.get("status")) in _AT_REST
        if is_answered:
            taken = (*taken, *results, "status")
        image = self._image(item) if kind == "image_generation_call" else None
        if image is not None:
            taken = (*taken, "result")
        call = ToolCall(
            call_id,
            name,
            text,
            provider_executed=not is_ours,
            dynamic=is_dynamic,
            provider_options=self._rest(item, taken),
        )
        parts: list[ReplyPart] = [call]
        if kind == "mcp_approval_request":
            parts.append(ApprovalRequest(text_of(item.get("id")) or call_id, call_id))
        if is_answered:
            parts.append(self._answer(call, item, ("status", *results)))
        if image is not None:
            parts.append(image)
        return parts

    def _answer(
        self, call: ToolCall, item: dict[str, object], members: tuple[str, ...]
    ) -> ToolResult | ToolError:
        value = kept_json({name: item[name] for name in members if name in item}) or EMPTY_OBJECT
        error = item.get("error")
        if error or item.get("status") == "failed":
            words = text_of(error) or text_of(object_of(error).get("message"))
            return ToolError(
                call.tool_call_id,
                call.tool_name,
                words or f"{call.tool_name} failed",
                value=value,
                provider_executed=True,
                dynamic=call.dynamic,
            )
        return ToolResult(
            call.tool_call_id,
            call.tool_name,
            JsonOutput(value),
            provider_executed=True,
            dynamic=call.dynamic,
        )

    def _image(self, item: dict[str, object]) -> File | None:
        """The image that was made; one that is not whole stays in its item."""
        data = text_of(item.get("result"))
        if not data:
            return None
        try:
            content = b64decode(data, validate=True)
        except ValueError:
            return None
        kind = text_of(item.get("output_format")) or "png"
        own = self._options({"item_id": text_of(item.get("id"))})
        return File(FileBytes(content), f"image/{kind}", provider_options=own)

    def _output(self, kind: str, item: dict[str, object]) -> ToolResult:
        name, results = _OUTPUTS[kind]
        value = {member: item[member] for member in results if member in item}
        call_id = text_of(item.get("call_id")) or text_of(item.get("id")) or "call"
        return ToolResult(
            call_id,
            name,
            JsonOutput(kept_json(value) or EMPTY_OBJECT),
            provider_executed=True,
            provider_options=self._rest(item, results),
        )

    # --- what is kept -------------------------------------------------------------------------

    def _custom(self, kind: str, kept: dict[str, object]) -> Custom:
        return Custom(f"{self._provider}.{kind}", provider_options=self._options(kept))

    def _rest(self, item: dict[str, object], taken: tuple[str, ...]) -> JsonText | None:
        """An item without what the part itself says, the id of the call included."""
        has_id = isinstance(item.get("call_id"), str)
        rest = {
            name: value
            for name, value in item.items()
            if name not in taken and not (has_id and name == "call_id")
        }
        return self._options({"item": rest})

    def _options(self, own: object) -> JsonText | None:
        return kept_json({self._provider: own}) if is_object(own) and own else None
