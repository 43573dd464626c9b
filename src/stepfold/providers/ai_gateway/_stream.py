"""A streamed reply of the gateway: each event is a stream part of the specification.

A reply is whole with its `finish`. Blocks are begun before they grow and end, by ids that are
their own; a block whose id stood for another one before gets one that did not.
"""

from typing import final

from stepfold.providers._events import EventStream
from stepfold.providers._failures import excerpt
from stepfold.providers._json import object_of, text_of
from stepfold.providers._replies import shown_headers, violation
from stepfold.providers.ai_gateway._parts import (
    cited_sources,
    options_of_part,
    warnings_in,
    whole_part,
)
from stepfold.providers.ai_gateway._reply import finish_reason_of, instant_of_text, usage_of
from stepfold.values import (
    Finish,
    ModelError,
    Ping,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)


@final
class GatewayReader:
    """Reads the events of one reply; an `EventReader`."""

    def __init__(
        self, _: str, headers: tuple[tuple[str, str], ...], secrets: tuple[str, ...]
    ) -> None:
        self._secrets = secrets
        self._headers = shown_headers(headers)
        self._is_described = False
        self._open: dict[tuple[str, str], str] = {}
        self._shown: set[str] = set()
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends, which only its last part does."""
        return self.is_done

    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        """Take a part.

        Raises:
            ModelError: it makes no sense.
        """
        kind = text_of(event.get("type")) or ""
        match kind:
            case "text-start" | "reasoning-start":
                self._begin(parts, kind, event)
            case "text-delta" | "reasoning-delta":
                self._grow(parts, kind, event)
            case "text-end" | "reasoning-end":
                self._close(parts, kind, event)
            case "tool-input-start" | "tool-input-delta" | "tool-input-end":
                parts += self._input(kind, event)
            case "stream-start":
                warnings = warnings_in(event.get("warnings"))
                parts += [StreamStart(warnings)] if warnings else []
            case "response-metadata":
                self._describe(parts, event)
            case "ping":
                parts.append(Ping())
            case "raw":
                pass
            case "finish":
                self._finish(parts, event)
            case _:
                parts.append(whole_part(event))

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come.

        Raises:
            ModelError: always, since the reply has not ended.
        """
        raise ModelError(violation("the stream ended without a finish: the reply may be cut"))

    def abandon(self, parts: list[StreamPart]) -> None:
        """Nothing was held back."""

    # --- blocks -------------------------------------------------------------------------------

    def _begin(self, parts: list[StreamPart], kind: str, event: dict[str, object]) -> None:
        block = kind.removesuffix("-start")
        key = (block, text_of(event.get("id")) or "")
        if key in self._open:
            raise self._impossible(f"{block} block", key[1], "was started twice")
        shown = key[1] or block
        while shown in self._shown:
            shown += "'"
        self._shown.add(shown)
        self._open[key] = shown
        options = options_of_part(event)
        is_text = block == "text"
        parts.append(
            TextStart(shown, provider_options=options)
            if is_text
            else ReasoningStart(shown, provider_options=options)
        )

    def _grow(self, parts: list[StreamPart], kind: str, event: dict[str, object]) -> None:
        shown = self._open_block(kind, event)
        delta, options = text_of(event.get("delta")), options_of_part(event)
        if not delta and options is None:
            return
        parts.append(
            TextDelta(shown, delta or "", provider_options=options)
            if kind == "text-delta"
            else ReasoningDelta(shown, delta or "", provider_options=options)
        )

    def _close(self, parts: list[StreamPart], kind: str, event: dict[str, object]) -> None:
        shown = self._open_block(kind, event)
        del self._open[kind.removesuffix("-end"), text_of(event.get("id")) or ""]
        options = options_of_part(event)
        if kind == "reasoning-end":
            parts.append(ReasoningEnd(shown, provider_options=options))
            return
        parts.append(TextEnd(shown, provider_options=options))
        parts += cited_sources(event)

    def _open_block(self, kind: str, event: dict[str, object]) -> str:
        block = kind.rpartition("-")[0]
        given = text_of(event.get("id")) or ""
        shown = self._open.get((block, given))
        if shown is None:
            raise self._impossible(f"a {kind} came for block", given, "which is not open")
        return shown

    def _input(self, kind: str, event: dict[str, object]) -> list[StreamPart]:
        """A part of the arguments of a call."""
        call_id = text_of(event.get("id")) or ""
        key = ("tool-input", call_id)
        if kind == "tool-input-start":
            name = text_of(event.get("toolName"))
            if not name or key in self._open:
                what = "without a name" if not name else "twice"
                raise self._impossible("the arguments of call", call_id, f"were started {what}")
            self._open[key] = call_id
            return [
                ToolInputStart(
                    call_id,
                    name,
                    provider_executed=event.get("providerExecuted") is True,
                    dynamic=event.get("dynamic") is True,
                    provider_options=options_of_part(event),
                )
            ]
        if key not in self._open:
            raise self._impossible(f"a {kind} came for call", call_id, "which is not open")
        if kind == "tool-input-end":
            del self._open[key]
            return [ToolInputEnd(call_id, provider_options=options_of_part(event))]
        delta = text_of(event.get("delta"))
        return [ToolInputDelta(call_id, delta)] if delta else []

    def _impossible(self, what: str, name: str, why: str) -> ModelError:
        shown = excerpt(name, self._secrets)
        return ModelError(violation(f"{what} {shown!r} {why}"))

    # --- beginnings and ends ------------------------------------------------------------------

    def _describe(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        self._is_described = True
        parts.append(
            ResponseMetadata(
                id=text_of(event.get("id")),
                model_id=text_of(event.get("modelId")),
                timestamp=instant_of_text(event.get("timestamp")),
                headers=self._headers,
            )
        )

    def _finish(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        for block, given in self._open:
            if block != "tool-input":
                raise self._impossible("the finish came while block", given, "was open")
        reason = finish_reason_of(event)
        if not self._is_described and self._headers:
            parts.append(ResponseMetadata(headers=self._headers))
        usage = usage_of(object_of(event.get("usage")) or None)
        parts.append(Finish(reason, usage, provider_metadata=options_of_part(event)))
        self.is_done = True


gateway_decoder: EventStream = EventStream(GatewayReader)
"""Makes the decoder of one streamed reply."""
