"""Middleware that tells of each model call in short lines, without what must not be seen."""

import logging
import re
from collections.abc import AsyncGenerator, Callable
from typing import Final, final

from attrs import frozen

from stepfold.ports import Clock, Middleware, model_name, streamed
from stepfold.shell._clock import SystemClock
from stepfold.shell._middleware_layers import Layer, ReplyWatch
from stepfold.values import (
    AssistantMessage,
    Message,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    UsageError,
    UserMessage,
)

_KEY: Final = re.compile(
    r"(?i:\b(?:bearer|basic)\s+)[^\s\"',;]+"  # an authorization header, told by somebody
    r"|\b(?:sk|pk|rk|gsk|xai|pplx|hf|ghp|gho|ghs|github|glpat|xox[a-z]|key)[-_][\w\-*.]{6,}"
    r"|\bAIza[\w\-]{20,}|\bAKIA[A-Z0-9]{12,}"
    r"|\beyJ[\w\-]{8,}\.[\w\-.]+"  # a JSON web token
    r"|(?i:\b(?:api[-_]?key|password|secret|token)\b[\"']?\s*[:=]\s*[\"']?)[^\s\"',;}]+"
)
_HIDDEN: Final = "[hidden]"
# A key may begin before the place where a text is cut, and must be seen whole to be hidden.
_BEYOND: Final = 4_096


def _hide_secrets(text: str) -> str:
    """Replace whatever has the shape of a key, a token or a password by `[hidden]`."""
    return _KEY.sub(_HIDDEN, text)


def logged(
    log: Callable[[str], object],
    /,
    *,
    text_length: int = 80,
    redact: Callable[[str], str] = _hide_secrets,
    clock: Clock | None = None,
) -> Middleware:
    """Tell of each model call: a line when it begins, and one when it has ended, failed or stopped.

    The lines hold names, counts, the key of the request, and the beginning of texts. Never told
    are headers, provider options, settings, files and the values of tools. Each line is printable.
    What `log` raises is reported to the logger `stepfold` and changes nothing.

    Args:
        log: Takes one line, such as `logging.getLogger("models").info`.
        text_length: How many characters of a text are told; 0 tells none.
        redact: Applied to each text before it is cut.
        clock: What measures how long a call took; the system's by default.

    Raises:
        UsageError: `text_length` is negative.
    """
    if text_length < 0:
        raise UsageError(f"logged: expected a text_length of at least 0, got {text_length!r}")
    lines = _Lines(log, text_length, redact, SystemClock() if clock is None else clock)
    return lambda model: _LoggedModel(model, lines)


@final
@frozen(eq=False)
class _Lines:
    """Writes the lines."""

    log: Callable[[str], object]
    text_length: int
    redact: Callable[[str], str]
    clock: Clock

    def tell(self, line: Callable[[], str]) -> None:
        try:
            self.log(line())
        except Exception:
            logging.getLogger("stepfold").exception("logged: what takes the lines has failed")

    def shown(self, text: str) -> str:
        """The beginning of a text, in quotes."""
        if not self.text_length:
            return f"({len(text)} characters)"
        safe = self.redact(text[: self.text_length + _BEYOND])
        is_cut = len(safe) > self.text_length or len(text) > self.text_length + _BEYOND
        return repr(safe[: self.text_length]) + ("…" if is_cut else "")

    def asked(self, name: str, how: str, request: ModelRequest) -> str:
        words = [f"{name} {how}: {_count(len(request.messages), 'message')}"]
        tools = len(request.tools) + len(request.provider_tools)
        if tools:
            words.append(_count(tools, "tool"))
        if request.key:
            words.append(f"key {self._name(request.key)}")
        if request.messages:
            words.append(self._message(request.messages[-1]))
        return ", ".join(words)

    def answered(self, name: str, reply: ModelReply, seconds: float) -> str:
        words = [f"{name} {reply.finish_reason.unified} after {seconds:.2f} s"]
        usage = reply.usage
        if usage.total_tokens is not None:
            words.append(f"{_known(usage.input_tokens)}+{_known(usage.output_tokens)} tokens")
        calls = [part.tool_name for part in reply.content if isinstance(part, ToolCall)]
        if calls:
            words.append("calls " + " ".join(map(self._name, calls)))
        text = "".join(part.text for part in reply.content if isinstance(part, Text))
        if text:
            words.append(self.shown(text))
        return ", ".join(words)

    def failed(self, name: str, error: BaseException | ModelErrorReason, seconds: float) -> str:
        if isinstance(error, ModelError):
            error = error.reason
        match error:
            case ModelErrorReason(kind, message):
                what = f"failed after {seconds:.2f} s, {kind} {self.shown(message)}"
            case Exception():
                what = f"failed after {seconds:.2f} s, {type(error).__name__}"
            case _:
                what = f"was left after {seconds:.2f} s"
        return f"{name} {what}"

    def _message(self, message: Message) -> str:
        match message:
            case SystemMessage(text):
                return f"system {self.shown(text)}"
            case UserMessage(content):
                texts = "".join(part.text for part in content if isinstance(part, Text))
                return f"user {self.shown(texts)}"
            case AssistantMessage(content):
                return f"assistant {_count(len(content), 'part')}"
            case ToolMessage(content):
                return f"tool {_count(len(content), 'part')}"

    def _name(self, name: str) -> str:
        """A name that somebody else has chosen, as it is if it is short and plain."""
        is_plain = len(name) <= 80 and re.fullmatch(r"[\w./:@-]+", name, re.ASCII)
        return self.redact(name) if is_plain else self.shown(name)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _known(tokens: int | None) -> str:
    return "?" if tokens is None else str(tokens)


@final
@frozen(eq=False)
class _LoggedModel(Layer):
    """The model that `logged` makes of another."""

    lines: _Lines

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        ended = self._asked("generate", request)
        try:
            reply = await self.inner.generate(request)
        except BaseException as error:
            ended(error)
            raise
        ended(reply)
        return reply

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        ended = self._asked("stream", request)
        watch = ReplyWatch()
        try:
            async with self.inner.stream(request) as parts:
                async for part in parts:
                    watch.see(part)
                    yield part
        except BaseException as error:
            seen = watch.seen()
            # Who has the finish may leave: the reply is whole.
            is_whole = isinstance(seen, ModelReply) and isinstance(error, GeneratorExit)
            ended(seen if is_whole else error)
            raise
        ended(watch.seen())

    def _asked(
        self, how: str, request: ModelRequest
    ) -> Callable[[ModelReply | ModelErrorReason | BaseException], None]:
        """Tell that a call begins, and give what tells how it has ended."""
        lines, name = self.lines, model_name(self.inner)
        started = lines.clock.now()
        lines.tell(lambda: lines.asked(name, how, request))

        def ended(how: ModelReply | ModelErrorReason | BaseException) -> None:
            seconds = (lines.clock.now() - started) / 1e9
            if isinstance(how, ModelReply):
                lines.tell(lambda: lines.answered(name, how, seconds))
            else:
                lines.tell(lambda: lines.failed(name, how, seconds))

        return ended
