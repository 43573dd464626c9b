"""Middleware that fills in what a request leaves open."""

import json
from collections.abc import Callable, Mapping
from typing import TypeVar

from attrs import evolve

from stepfold.ports import LanguageModel, Middleware
from stepfold.shell._middleware_layers import RequestLayer
from stepfold.values import (
    NO_SETTINGS,
    CallSettings,
    JsonText,
    ModelRequest,
    SystemMessage,
    ToolDefinition,
    UsageError,
    merge_options,
)

T = TypeVar("T")


def default_settings(
    *,
    settings: CallSettings = NO_SETTINGS,
    headers: Mapping[str, str] | None = None,
    provider_options: Mapping[str, object] | None = None,
) -> Middleware:
    """Merge settings under those of each request: what the request says wins.

    Args:
        settings: Used one by one, where the request leaves them `None`, or `stop_sequences` empty.
        headers: Used where the request has no header of this name, in upper or lower case.
        provider_options: Merged under those of the request at every depth; arrays are replaced.

    Raises:
        UsageError: the provider options have no JSON form.
    """
    pairs = tuple((headers or {}).items())
    options = None if provider_options is None else json_options(provider_options)

    def change(request: ModelRequest) -> ModelRequest:
        return evolve(
            request,
            settings=_merged_settings(settings, request.settings),
            headers=merged_headers(pairs, request.headers),
            provider_options=merge_options(options, request.provider_options),
        )

    return lambda model: RequestLayer(model, change)


def json_options(given: Mapping[str, object]) -> JsonText:
    try:
        return JsonText.of(given)
    except (TypeError, ValueError) as error:
        raise UsageError(f"provider_options: expected what has a JSON form, got {error}") from error


def _merged_settings(defaults: CallSettings, given: CallSettings) -> CallSettings:
    if defaults == NO_SETTINGS:
        return given
    return CallSettings(
        max_output_tokens=_known(given.max_output_tokens, defaults.max_output_tokens),
        temperature=_known(given.temperature, defaults.temperature),
        top_p=_known(given.top_p, defaults.top_p),
        top_k=_known(given.top_k, defaults.top_k),
        presence_penalty=_known(given.presence_penalty, defaults.presence_penalty),
        frequency_penalty=_known(given.frequency_penalty, defaults.frequency_penalty),
        stop_sequences=given.stop_sequences or defaults.stop_sequences,
        seed=_known(given.seed, defaults.seed),
        reasoning=_known(given.reasoning, defaults.reasoning),
    )


def _known(own: T | None, default: T | None) -> T | None:
    return default if own is None else own


def merged_headers(
    defaults: tuple[tuple[str, str], ...], given: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    named = {name.lower() for name, _ in given}
    missing = tuple(pair for pair in defaults if pair[0].lower() not in named)
    return (*missing, *given)


def default_instructions(text: str, /) -> Middleware:
    """Give instructions to each request that has none, neither as such nor as system messages."""

    def change(request: ModelRequest) -> ModelRequest:
        has_own = request.instructions or any(
            isinstance(message, SystemMessage) for message in request.messages
        )
        return request if has_own else evolve(request, instructions=text)

    return lambda model: RequestLayer(model, change)


def _compact(example: JsonText) -> str:
    return json.dumps(json.loads(example.text), ensure_ascii=False, separators=(",", ":"))


def add_tool_input_examples(
    *,
    prefix: str = "Input Examples:",
    format: Callable[[JsonText], str] = _compact,  # noqa: A002 - as in the AI SDK
    remove: bool = True,
) -> Middleware:
    """Write the input examples of tools into their descriptions.

    For servers that have no place for examples.

    Args:
        prefix: The line before the examples.
        format: Writes one example; compact JSON by default, keys in their own order.
        remove: Leave the examples out of the definitions.
    """

    def described(tool: ToolDefinition) -> ToolDefinition:
        if not tool.input_examples:
            return tool
        section = "\n".join((prefix, *map(format, tool.input_examples)))
        return evolve(
            tool,
            description=f"{tool.description}\n\n{section}" if tool.description else section,
            input_examples=() if remove else tool.input_examples,
        )

    def change(request: ModelRequest) -> ModelRequest:
        return evolve(request, tools=tuple(map(described, request.tools)))

    def exemplified(model: LanguageModel) -> LanguageModel:
        return RequestLayer(model, change)

    return exemplified
