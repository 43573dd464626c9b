"""The one fold of a streamed reply, and its inverse.

A block stands in the content where it *started*. Empty text is dropped, as it is from a reply
that came in one piece. A call whose arguments never ended is no call. Ids of calls are made
unique as parts arrive, so that a stream shows the ids that the history will hold.
"""

from collections.abc import Callable, Container, Iterable
from typing import Final

from attrs import evolve

from stepfold.values import (
    NO_USAGE,
    ApprovalRequest,
    Custom,
    DocumentSource,
    File,
    Finish,
    FinishReason,
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFile,
    ReasoningStart,
    ReplyPart,
    ResponseInfo,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolError,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
    UrlSource,
    without_lone_surrogates,
)


class _Block:
    """A text or reasoning block that is still growing; `shown` is its other id, if it has one."""

    __slots__ = ("chunks", "kind", "options", "shown")

    def __init__(
        self, kind: type[Text] | type[Reasoning], options: JsonText | None, shown: str | None
    ) -> None:
        self.kind = kind
        self.shown = shown
        self.chunks: list[str] = []
        self.options = options

    def part(self) -> ReplyPart | None:
        text = without_lone_surrogates("".join(self.chunks))
        if not text and self.options is None:
            return None
        return self.kind(text, provider_options=self.options)


class _Call:
    """The place of a call whose arguments have started."""

    __slots__ = ("id", "part")

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.part: ToolCall | None = None


def _violation(message: str) -> ModelError:
    return ModelError(ModelErrorReason("protocol", message))


class ReplyFold:
    """Gathers the parts of one reply; give it each part once, in order.

    `seen` holds the ids of calls that the run has used, `fresh(n)` names the n-th call of this
    reply where its own id is blank or taken. `blocks` holds the ids of the blocks that were shown
    before, and is added to; a block whose id is among them is shown as `prefix` and its id.
    """

    def __init__(
        self,
        seen: Container[str] = (),
        fresh: Callable[[int], str] = "call-{}".format,
        blocks: set[str] | None = None,
        prefix: str = "",
    ) -> None:
        self._seen: Final = seen
        self._fresh: Final = fresh
        self._blocks: Final = blocks
        self._prefix: Final = prefix
        self._content: list[_Block | _Call | ReplyPart] = []
        self._texts: dict[str, _Block] = {}
        self._reasonings: dict[str, _Block] = {}
        self._calls: dict[str, _Call] = {}
        self._taken: set[str] = set()
        self._warnings: tuple[ModelWarning, ...] = ()
        self._response = ResponseInfo()
        self._finish: Finish | None = None

    def add(self, part: StreamPart) -> StreamPart:
        """Take the next part and give it back with the id that its call or block has in the run.

        Raises:
            ModelError: for an error reported in the stream, and for parts in an impossible order.
        """
        if self._finish is not None:
            msg = f"a {type(part).__name__} part came after the finish"
            raise _violation(msg)
        match part:
            case TextDelta(block_id, delta, provider_options=options):
                shown = self._grow(self._texts, block_id, delta, options)
            case ReasoningDelta(block_id, delta, provider_options=options):
                shown = self._grow(self._reasonings, block_id, delta, options)
            case ToolInputDelta(call_id):
                return evolve(part, id=self._place(call_id).id)
            case TextStart(block_id, provider_options=options):
                shown = self._begin(self._texts, block_id, Text, options)
            case ReasoningStart(block_id, provider_options=options):
                shown = self._begin(self._reasonings, block_id, Reasoning, options)
            case TextEnd(block_id, provider_options=options):
                shown = self._grow(self._texts, block_id, "", options)
                del self._texts[block_id]
            case ReasoningEnd(block_id, provider_options=options):
                shown = self._grow(self._reasonings, block_id, "", options)
                del self._reasonings[block_id]
            case ToolInputStart(call_id):
                return evolve(part, id=self._new_call(call_id).id)
            case ToolInputEnd(call_id):
                return evolve(part, id=self._place(call_id).id)
            case _:
                return self._add_whole(part)
        return part if shown is None else evolve(part, id=shown)

    def _add_whole(self, part: StreamPart) -> StreamPart:
        match part:
            case ToolCall():
                return self._add_call(part)
            case ToolResult() | ToolError() | ApprovalRequest():
                call = self._calls.get(part.tool_call_id)
                named = part if call is None else evolve(part, tool_call_id=call.id)
                self._content.append(named)
                return named
            case File() | ReasoningFile() | UrlSource() | DocumentSource() | Custom():
                self._content.append(part)
            case StreamStart(warnings):
                self._warnings += warnings
            case ResponseMetadata():
                self._response = ResponseInfo(
                    part.id or self._response.id,
                    part.model_id or self._response.model_id,
                    part.timestamp or self._response.timestamp,
                    part.headers or self._response.headers,
                )
            case Finish():
                self._finish = part
            case StreamError(reason):
                raise ModelError(reason)
            case _:
                pass
        return part

    def _begin(
        self,
        open_blocks: dict[str, _Block],
        block_id: str,
        kind: type[Text] | type[Reasoning],
        options: JsonText | None,
    ) -> str | None:
        if block_id in open_blocks:
            msg = f"block {block_id!r} was started twice"
            raise _violation(msg)
        shown = None if self._blocks is None else self._shown_id(block_id, self._blocks)
        block = _Block(kind, options, shown)
        open_blocks[block_id] = block
        self._content.append(block)
        return shown

    def _shown_id(self, block_id: str, before: set[str]) -> str | None:
        """The other id of a block whose own was shown before; `None` if it can keep its own."""
        name = block_id
        if name in before:
            name = unused_id(f"{self._prefix}{name}", before)
        before.add(name)
        return None if name == block_id else name

    @staticmethod
    def _grow(
        open_blocks: dict[str, _Block], block_id: str, delta: str, options: JsonText | None
    ) -> str | None:
        block = open_blocks.get(block_id)
        if block is None:
            msg = f"a part of block {block_id!r} came, which is not open"
            raise _violation(msg)
        if delta:
            block.chunks.append(delta)
        if options is not None:
            block.options = options
        return block.shown

    def _new_call(self, call_id: str) -> _Call:
        taken = self._taken
        name = call_id
        if not call_id or call_id in taken or call_id in self._seen:
            name = unused_id(self._fresh(len(taken)), self._seen, taken)
        taken.add(name)
        call = _Call(name)
        self._calls[call_id] = call
        self._content.append(call)
        return call

    def _place(self, call_id: str) -> _Call:
        call = self._calls.get(call_id)
        if call is None or call.part is not None:
            msg = f"a part of the arguments of call {call_id!r} came, which is not open"
            raise _violation(msg)
        return call

    def _add_call(self, part: ToolCall) -> ToolCall:
        call = self._calls.get(part.tool_call_id)
        if call is None or call.part is not None:
            call = self._new_call(part.tool_call_id)
        text = without_lone_surrogates(part.input)
        if call.id != part.tool_call_id or text is not part.input:
            part = evolve(part, tool_call_id=call.id, input=text)
        call.part = part
        return part

    def partial(self) -> ModelReply:
        """What has come so far, as a reply that was interrupted."""
        usage = self._finish.usage if self._finish is not None else NO_USAGE
        return ModelReply(
            self._parts(), _CUT, usage, warnings=self._warnings, response=self._response
        )

    def reply(self) -> ModelReply:
        """The whole reply, after the last part.

        Raises:
            ModelError: the stream ended without a finish, so the reply may be cut.
        """
        if self._finish is None:
            msg = "the stream ended without a finish: the reply may be cut"
            raise _violation(msg)
        return ModelReply(
            self._parts(),
            self._finish.finish_reason,
            self._finish.usage,
            warnings=self._warnings,
            response=self._response,
            provider_metadata=self._finish.provider_metadata,
        )

    def _parts(self) -> tuple[ReplyPart, ...]:
        parts: list[ReplyPart] = []
        for item in self._content:
            part = item.part() if isinstance(item, _Block) else item
            if isinstance(part, _Call):
                part = part.part
            if part is not None:
                parts.append(part)
        return tuple(parts)


_CUT = FinishReason("interrupted")


def unused_id(candidate: str, *taken: Container[str]) -> str:
    """`candidate`, or the first of `candidate'`, `candidate''` … that none of `taken` holds."""
    while any(candidate in ids for ids in taken):
        candidate += "'"
    return candidate


def fold_parts(parts: Iterable[StreamPart]) -> ModelReply:
    """Fold the parts of one whole reply.

    Raises:
        ModelError: for an error in the stream, an impossible order, or a missing finish.
    """
    fold = ReplyFold()
    for part in parts:
        fold.add(part)
    return fold.reply()


def normal_reply(reply: ModelReply) -> ModelReply:
    """A reply that came in one piece, as if it had been streamed: no empty text in it.

    Ids stay as they are: the loop makes them unique.
    """
    for part in reply.content:
        if _cleaned(part) is not part:
            cleaned = map(_cleaned, reply.content)
            return evolve(reply, content=tuple(part for part in cleaned if part is not None))
    return reply


def _cleaned(part: ReplyPart) -> ReplyPart | None:
    match part:
        case Text(text) | Reasoning(text):
            if not text and part.provider_options is None:
                return None
            clean = without_lone_surrogates(text)
            return part if clean is text else evolve(part, text=clean)
        case ToolCall(_, _, text):
            clean = without_lone_surrogates(text)
            return part if clean is text else evolve(part, input=clean)
        case _:
            return part


def parts_of(reply: ModelReply) -> tuple[StreamPart, ...]:
    """A reply as the stream of a model that sends each block in one piece."""
    parts: list[StreamPart] = [StreamStart(reply.warnings)]
    response = reply.response
    if response != ResponseInfo():
        parts.append(
            ResponseMetadata(
                id=response.id,
                model_id=response.model_id,
                timestamp=response.timestamp,
                headers=response.headers,
            )
        )
    for index, part in enumerate(reply.content):
        block = str(index)
        match part:
            case Text(text, provider_options=options):
                parts += [
                    TextStart(block),
                    TextDelta(block, text),
                    TextEnd(block, provider_options=options),
                ]
            case Reasoning(text, provider_options=options):
                parts += [
                    ReasoningStart(block),
                    ReasoningDelta(block, text),
                    ReasoningEnd(block, provider_options=options),
                ]
            case _:
                parts.append(part)
    parts.append(
        Finish(reply.finish_reason, reply.usage, provider_metadata=reply.provider_metadata)
    )
    return tuple(parts)
