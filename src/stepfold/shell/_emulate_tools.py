"""Tools for models and servers that know none, by way of a JSON Schema.

The request asks for an answer of one form, a call or text; the reply is read back into the call
or the text. Generating is a fold of what streaming would have shown, so the two cannot differ.
"""

import itertools
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Final, final

from attrs import evolve, frozen

from stepfold.loop import fold_parts, parts_of
from stepfold.ports import LanguageModel, Middleware, ModelStream, streamed
from stepfold.shell._emulate_prompt import (
    formed_messages,
    has_tool_parts,
    instructions_of,
    plain_messages,
)
from stepfold.shell._emulate_reading import BlockReader
from stepfold.shell._emulate_schema import AnswerForm
from stepfold.values import (
    EMPTY_OBJECT,
    AssistantMessage,
    Finish,
    FinishReason,
    JsonFormat,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    NamedTool,
    Ping,
    Raw,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolDefinition,
    UsageError,
)


def emulate_tools(
    *, max_string_length: int | None = 2_000, with_examples: bool = False
) -> Middleware:
    """Let a model use tools although its server knows none.

    The server has to honour a JSON Schema as the response format. Tools become branches of one
    schema beside a branch for text (or for the output, if the request has a schema of its own);
    earlier calls and results are told as text. `tool_choice` decides which branches there are.
    A reply makes at most one call for each of its text blocks; what is no complete document of
    the form stays text, and the reason why the reply ended is kept.

    A request that has no tools and tells of none is passed on as it is. Tools of a provider are
    left out, since such a server has none.

    Args:
        max_string_length: The longest string, in characters, where a schema sets no bound; also
            that of a text answer. Small models repeat themselves for ever without one, and some
            servers refuse more than 2,000. `None` sets no bounds.
        with_examples: Show in the instructions two short conversations with tools that do not
            exist. Models of a few hundred million parameters need them.

    Raises:
        UsageError: `max_string_length` is less than one.
    """
    if max_string_length is not None and max_string_length < 1:
        raise UsageError(
            f"expected a max_string_length of at least 1, or None, got {max_string_length}"
        )

    def emulated(model: LanguageModel) -> LanguageModel:
        return _EmulatedTools(model, max_string_length, with_examples=with_examples)

    return emulated


@final
class _EmulatedTools:
    """The model that `emulate_tools` makes of another."""

    def __init__(
        self, inner: LanguageModel, max_string_length: int | None, *, with_examples: bool
    ) -> None:
        self._inner: Final = inner
        self._max_string_length: Final = max_string_length
        self._with_examples: Final = with_examples

    @property
    def provider(self) -> str:
        return self._inner.provider

    @property
    def model_id(self) -> str:
        return self._inner.model_id

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        plan = self._plan(request)
        reply = await self._inner.generate(plan.request)
        if plan.form is None:
            return reply
        reading = _ReplyReading(plan.form, plan.new_id)
        return fold_parts(piece for part in parts_of(reply) for piece in reading.read(part))

    def stream(self, request: ModelRequest, /) -> ModelStream:
        plan = self._plan(request)
        if plan.form is None:
            return self._inner.stream(plan.request)
        return self._read(plan.request, _ReplyReading(plan.form, plan.new_id))

    @streamed
    async def _read(
        self, request: ModelRequest, reading: "_ReplyReading"
    ) -> AsyncGenerator[StreamPart]:
        async with self._inner.stream(request) as parts:
            async for part in parts:
                for piece in reading.read(part):
                    yield piece

    def _plan(self, request: ModelRequest) -> "_Plan":
        tools = _offered(request)
        if not tools:
            return _Plan(_without_tools(request))
        wanted = request.response_format
        is_free = request.tool_choice == "auto"
        form = AnswerForm(
            tools,
            takes_text=is_free and wanted is None,
            output=(wanted.schema or EMPTY_OBJECT) if is_free and wanted is not None else None,
            max_string_length=self._max_string_length,
        )
        formed = evolve(
            request,
            messages=formed_messages(request.messages, takes_output=form.output is not None),
            instructions=instructions_of(
                request.instructions, form, with_examples=self._with_examples
            ),
            tools=(),
            provider_tools=(),
            tool_choice="auto",
            response_format=JsonFormat(form.schema(), name="reply"),
        )
        return _Plan(formed, form, _ids(request))


@final
@frozen(order=False)
class _Plan:
    """What the inner model is asked, and how its answer is read; as it is, if there is no form."""

    request: ModelRequest
    form: AnswerForm | None = None
    new_id: Callable[[], str] = str


def _offered(request: ModelRequest) -> tuple[ToolDefinition, ...]:
    """The tools that the tool choice leaves.

    Raises:
        ModelError: the tool that has to be called is not among them.
    """
    match request.tool_choice:
        case "none":
            return ()
        case NamedTool(name) if request.tools:
            offered = tuple(tool for tool in request.tools if tool.name == name)
            if offered:
                return offered
            names = ", ".join(tool.name for tool in request.tools)
            message = f"the tool choice names {name!r}, which is not one of the tools: {names}"
            raise ModelError(ModelErrorReason("bad-request", message))
        case _:
            return request.tools


def _without_tools(request: ModelRequest) -> ModelRequest:
    is_offered = bool(request.tools or request.provider_tools)
    if not is_offered and not has_tool_parts(request.messages):
        return request
    messages = plain_messages(request.messages)
    return evolve(request, messages=messages, tools=(), provider_tools=(), tool_choice="auto")


def _ids(request: ModelRequest) -> Callable[[], str]:
    """Name calls by the key of the request; without one, by how many calls the history has."""
    first = 0
    if not request.key:
        first = sum(
            isinstance(part, ToolCall)
            for message in request.messages
            if isinstance(message, AssistantMessage)
            for part in message.content
        )
    numbers = itertools.count(first)
    return lambda: f"{request.key or 'call'}/{next(numbers)}"


@final
class _ReplyReading:
    """Reads the parts of one reply, each text block by a reader of its own.

    A block has its place in the reply where it starts. So while it is not known whether a block
    is text or a call, the content that comes after it waits.
    """

    def __init__(self, form: AnswerForm, new_id: Callable[[], str]) -> None:
        self._names: Final = frozenset(tool.name for tool in form.tools)
        self._takes_output: Final = form.output is not None
        self._new_id: Final = new_id
        self._open: dict[str, BlockReader] = {}
        self._undecided: str | None = None
        self._waiting: list[StreamPart] = []
        self._has_called = False

    def read(self, part: StreamPart) -> Iterator[StreamPart]:
        """Take the next part and give those that it makes certain."""
        match part:
            case Finish():
                yield from self._finish(part)
            case StreamStart() | ResponseMetadata() | StreamError() | Ping() | Raw():
                yield part  # these have no place in the content
            case _:
                self._waiting.append(part)
                yield from self._go_on()

    def _go_on(self) -> Iterator[StreamPart]:
        """Take what waits: of an undecided block all, else in order."""
        is_stuck = False
        while self._waiting and not is_stuck:
            waiting, self._waiting = self._waiting, []
            is_stuck = True
            for part in waiting:
                undecided = self._undecided
                if self._waiting if undecided is None else _block(part) != undecided:
                    self._waiting.append(part)
                else:
                    is_stuck = False
                    yield from self._take(part)

    def _take(self, part: StreamPart) -> Iterator[StreamPart]:
        open_id = _block(part)
        reader = None if open_id is None else self._open.get(open_id)
        match part:
            case TextStart(block_id, provider_options=options) if reader is None:
                reader = BlockReader(
                    block_id, self._names, self._new_id, takes_output=self._takes_output
                )
                reader.keep(options)
                self._open[block_id] = reader
                self._undecided = block_id
            case TextDelta(block_id, delta, provider_options=options) if reader is not None:
                reader.keep(options)
                yield from reader.read(delta)
                if self._undecided == block_id and reader.is_text:
                    self._undecided = None
            case TextEnd(block_id, provider_options=options) if reader is not None:
                reader.keep(options)
                yield from self._close(block_id, reader)
            case _:
                yield part

    def _close(self, block_id: str, reader: BlockReader) -> Iterator[StreamPart]:
        del self._open[block_id]
        if self._undecided == block_id:
            self._undecided = None
        for part in reader.close():
            self._has_called = self._has_called or isinstance(part, ToolCall)
            yield part

    def _finish(self, finish: Finish) -> Iterator[StreamPart]:
        while self._open:
            block_id = next(iter(self._open)) if self._undecided is None else self._undecided
            yield from self._close(block_id, self._open[block_id])
            yield from self._go_on()
        reason = finish.finish_reason
        if self._has_called and reason.unified == "stop":
            finish = evolve(finish, finish_reason=FinishReason("tool-calls", reason.raw))
        yield finish


def _block(part: StreamPart) -> str | None:
    """The text block that the part belongs to."""
    return part.id if isinstance(part, TextStart | TextDelta | TextEnd) else None
