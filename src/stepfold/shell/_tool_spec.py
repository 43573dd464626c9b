"""What a tool is told to be, checked, and what the loop is told of it."""

import functools
import inspect
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Never, final

from attrs import field, frozen
from typing_extensions import TypeIs

from stepfold.loop import Limits, ToolSpec
from stepfold.schema import (
    Decoder,
    Parameters,
    binds_user_code,
    decoder_of,
    encode_result,
    schema_of,
)
from stepfold.shell._approval import NeedsApproval
from stepfold.values import (
    Failure,
    JsonText,
    Success,
    ToolDefinition,
    ToolOutput,
    UsageError,
)


def _tuple(given: Sequence[object]) -> tuple[object, ...]:
    return tuple(given)


@final
@frozen(order=False, kw_only=True)
class ToolOptions:
    """How a tool is offered and run; see `tool`.

    `executes` is false for a `client_tool`; `input_schema` is that of a `dynamic_tool`. `describe`
    computes the description from the deps.
    """

    name: str | None = None
    description: str | None = None
    needs_approval: bool | NeedsApproval = False
    idempotent: bool = False
    timeout: float | None = None
    strict: bool | None = None
    examples: Sequence[object] = field(default=(), converter=_tuple)
    max_retries: int | None = None
    defer_loading: bool = False
    async_only: bool = False
    title: str | None = None
    metadata: Mapping[str, object] | None = None
    provider_options: Mapping[str, object] | None = None
    to_model_output: Callable[[Never], ToolOutput] | None = None
    describe: Callable[[Never], str] | None = None
    executes: bool = True
    grant: Limits | None = None
    calls: Sequence[object] = field(default=(), converter=_tuple)
    input_schema: JsonText | None = None


def name_of(function: object) -> str:
    """What a function is called."""
    while isinstance(function, functools.partial):
        function = function.func
    name: object = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def is_async(function: object) -> bool:
    """Whether calling the function gives something to await, or to iterate over so."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return True
    called: object = getattr(type(function), "__call__", None)  # noqa: B004 - the function of it
    return inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def spec_of(function: object, options: ToolOptions, parameters: Parameters) -> ToolSpec:
    name = options.name if options.name is not None else name_of(function)
    if _NAME.fullmatch(name) is None:
        msg = (
            f"tool: expected a name of 1 to 64 letters, digits, '_' and '-', got {name!r}; "
            "give one as @tool(name=…)"
        )
        raise UsageError(msg)
    _require_timeout(name, options.timeout)
    _require_grant(name, options.grant)
    _require_plain(name, "to_model_output", options.to_model_output)
    _require_plain(name, "description", options.describe)
    _require_retries(name, options.max_retries)
    for called in options.calls:
        _require_callable_within(name, called)
    decoder = decoder_of(parameters.form)
    description = options.description
    definition = ToolDefinition(
        name,
        parameters.description if description is None else description,
        schema_of(parameters.form),
        strict=options.strict,
        input_examples=tuple(_example(name, decoder, example) for example in options.examples),
        provider_options=_json_object(name, "provider_options", options.provider_options),
    )
    return ToolSpec(
        definition=definition,
        check=decoder.check,
        executes=options.executes,
        title=options.title,
        metadata=_json_object(name, "metadata", options.metadata),
        dynamic=options.input_schema is not None,
        approval=_approval(name, options.needs_approval),
        binds=binds_user_code(parameters.form),
        idempotent=options.idempotent,
        max_retries=options.max_retries,
        defer_loading=options.defer_loading,
        timeout=None if options.timeout is None else int(options.timeout * 1_000_000_000),
        grant=options.grant if options.grant is not None or not options.calls else _CALLS_ALONE,
    )


_CALLS_ALONE = Limits(tokens=0, cost=0)
"""What a tool is granted that calls others, and begins no runs: tool calls and nothing else."""


def _approval(name: str, given: object) -> Literal["never", "always", "policy"]:
    if isinstance(given, bool):
        return "always" if given else "never"
    if callable(given):
        return "policy"
    raise UsageError(
        f"tool {name}: expected needs_approval to be True, False or a function, got {given!r:.200}"
    )


def _require_timeout(name: str, given: object) -> None:
    if given is not None and not (isinstance(given, int | float) and 0 < given < math.inf):
        msg = f"tool {name}: expected a timeout of more than 0 seconds, got {given!r}"
        raise UsageError(msg)


def _require_retries(name: str, given: object) -> None:
    if given is not None and not (type(given) is int and given >= 0):
        msg = f"tool {name}: expected max_retries that are not negative, got {given!r}"
        raise UsageError(msg)


def _require_grant(name: str, given: object) -> None:
    if given is None:
        return
    if not isinstance(given, Limits):
        msg = f"tool {name}, grant: expected Limits, got {given!r:.200}"
        raise UsageError(msg)
    if given.calls_of:
        msg = f"tool {name}, grant: expected no calls_of: each run knows its own tools"
        raise UsageError(msg)


def _require_callable_within(name: str, given: object) -> None:
    spec: object = getattr(given, "spec", None)
    if not isinstance(spec, ToolSpec):
        raise UsageError(f"tool {name}, calls: expected tools, got {given!r:.100}")
    if spec.approval != "never":
        msg = (
            f"tool {name}, calls: {spec.name} needs an approval, and nobody could be asked from "
            "within a call: offer it to the model"
        )
        raise UsageError(msg)
    if not spec.executes:
        raise UsageError(f"tool {name}, calls: {spec.name} is run by a client, and not from here")


def _require_plain(name: str, option: str, given: object) -> None:
    if given is not None and (not callable(given) or is_async(given)):
        msg = f"tool {name}, {option}: expected a plain function, got {given!r:.100}"
        raise UsageError(msg)


def is_mapping(given: object) -> TypeIs[Mapping[object, object]]:
    """Whether this is a mapping."""
    return isinstance(given, Mapping)


def _json_object(name: str, option: str, given: object) -> JsonText | None:
    if given is None:
        return None
    if not is_mapping(given):
        raise UsageError(f"tool {name}, {option}: expected a mapping, got {given!r:.100}")
    try:
        return JsonText.of(given)
    except (TypeError, ValueError) as error:
        msg = f"tool {name}, {option}: expected what has a JSON form, got {error}"
        raise UsageError(msg) from error


def _example(name: str, decoder: Decoder, example: object) -> JsonText:
    match encode_result(example):
        case Failure(fault):
            msg = f"tool {name}, examples: {fault.pointer or 'an example'}: {fault.message}"
            raise UsageError(msg)
        case Success(text):
            faults = decoder.check(json.loads(text.text))
            if faults:
                msg = f"tool {name}, examples: {faults[0].pointer}: {faults[0].message}"
                raise UsageError(msg)
            return text
