"""Running one tool call: bind its arguments, run its code, encode what it gives.

Whatever a tool does becomes an outcome; only a cancellation that came from outside goes through.
"""

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import CoroutineType
from typing import TypeVar

from typing_extensions import TypeIs

from stepfold.codec import to_json
from stepfold.loop import Phase, Working
from stepfold.loop.commands import CallKey
from stepfold.loop.events import ToolFailed, ToolOutcome, ToolSucceeded
from stepfold.ports import BLOCKING, Clock
from stepfold.schema import Faults, encode_result
from stepfold.shell._tool import AnyTool
from stepfold.shell._waiting import (
    SpuriousCancellationError,
    Waiting,
    missed_loop,
    needs_loop,
)
from stepfold.values import (
    Failure,
    Instant,
    JsonOutput,
    JsonText,
    Outcome,
    Success,
    TextOutput,
    ToolCall,
    ToolFault,
    ToolOutput,
    ToolResult,
    UsageError,
    without_lone_surrogates,
)

D = TypeVar("D")
Progress = Callable[[JsonText], None]

_read = json.JSONDecoder().decode

_SPURIOUS = "interrupted: the tool raised a cancellation that nobody had asked for"


def call_of(phase: Phase, key: CallKey) -> ToolCall | None:
    """The call that a key names; none if the run is no longer at work on it."""
    if not isinstance(phase, Working):
        return None
    slots, index = phase.slots, key.index
    if index < len(slots) and slots[index].index == index:  # as it is, but for late answers
        return slots[index].call
    return next((slot.call for slot in slots if slot.index == index), None)


def bound_arguments(
    tool: AnyTool[D, object], call: ToolCall
) -> Outcome[tuple[tuple[object, ...], dict[str, object]], Faults]:
    """Build the arguments of a call whose text was checked; the user's validators run here."""
    value: object = _read(call.input) if call.input.strip() else {}
    return tool.parameters.bind(value)


def binding_error(tool: AnyTool[D, object], call: ToolCall) -> str | None:
    """Say why the user's validators refuse the arguments, in words for the model."""
    match bound_arguments(tool, call):
        case Success(_):
            return None
        case Failure(faults):
            return _refused(tool, faults)


def _refused(tool: AnyTool[D, object], faults: Faults) -> str:
    told = "; ".join(f"{fault.pointer or '(the whole input)'}: {fault.message}" for fault in faults)
    return f"the arguments are refused by {tool.name}: {told}"


async def execute(
    tool: AnyTool[D, object],
    call: ToolCall,
    context: object,
    deadline: Instant | None,
    timeout: int | None,
    clock: Clock,
    waiting: Waiting,
    progress: Progress,
) -> ToolOutcome:
    """Run a call to its end, or to its deadline; `timeout` is what it had until then.

    Raises:
        UsageError: the tool needs an event loop and there is none.
    """
    bound = bound_arguments(tool, call)
    if isinstance(bound, Failure):
        return ToolFailed(_refused(tool, bound.failure()), "invalid")
    args, keywords = bound.unwrap()
    if tool.takes_context:
        args = (context, *args)

    async def work() -> ToolOutcome:
        return await _outcome(tool, args, keywords, waiting, progress)

    outcome = await waiting.until(deadline, clock, work)
    if outcome == "timeout":
        return ToolFailed(_timeout_text(tool, timeout), "timeout")
    return outcome


def _timeout_text(tool: AnyTool[D, object], timeout: int | None) -> str:
    within = "by its deadline" if timeout is None else f"within {timeout / 1e9:g} seconds"
    in_thread = not tool.is_async and not BLOCKING.get()
    rest = "; its thread may still be running" if in_thread else ""
    return f"the tool did not end {within}{rest}"


async def _outcome(
    tool: AnyTool[D, object],
    args: tuple[object, ...],
    keywords: dict[str, object],
    waiting: Waiting,
    progress: Progress,
) -> ToolOutcome:
    """Run the function, whatever its kind; its errors become an outcome."""
    try:
        if tool.is_async:
            given = tool.invoke(args, keywords)
        else:
            given = await waiting.in_thread(lambda: tool.invoke(args, keywords))
        if _is_items(given):
            given = _last_of(given, progress)
        elif _is_sync_items(given):
            given = _last_of_thread(given, waiting, progress)
        if inspect.isawaitable(given):
            given = await waiting.for_code(given)
    except SpuriousCancellationError:
        return ToolFailed(_SPURIOUS, "interrupted")
    except ToolFault as fault:
        return ToolFailed(_text_of(fault))
    except Exception as error:
        if BLOCKING.get() and missed_loop(error):
            raise needs_loop(f"the tool {tool.name}") from error
        return ToolFailed(error_text(error))
    if tool.options.to_model_output is None:
        return encoded_outcome(given)
    return await _shown(tool, given, waiting)


async def _shown(tool: AnyTool[D, object], given: object, waiting: Waiting) -> ToolOutcome:
    """Encode what a tool gave, and let its own function say what the model sees of it."""
    if _is_outcome(given):
        match given:
            case Success(value):
                given = value
            case Failure(error):
                return _failure(error)
    outcome = encoded_outcome(given)
    if isinstance(outcome, ToolFailed):
        return outcome
    name = f"to_model_output of {tool.name}"
    try:
        if tool.is_async:
            output = tool.show(given)
        else:
            output = await waiting.in_thread(lambda: tool.show(given))
    except Exception as error:  # noqa: BLE001 - the user's code
        return ToolFailed(f"{name} failed: {type(error).__name__}: {_text_of(error)}")
    if not isinstance(output, ToolOutput):
        return ToolFailed(f"{name} failed: expected a ToolOutput, got {type(output).__name__}")
    try:
        to_json(output)
    except UsageError as error:  # something in it is of a wrong type
        return ToolFailed(f"{name} failed: {error}")
    if output == outcome.output:
        return outcome
    return ToolSucceeded(output, ToolResult("", tool.name, outcome.output).json)


def error_text(error: object) -> str:
    """An error of the user's code, in words for the model."""
    return f"{type(error).__name__}: {_text_of(error)}"


def _text_of(error: object) -> str:
    """What an error says; even that is the user's code."""
    try:
        return without_lone_surrogates(str(error))
    except Exception:  # noqa: BLE001 - an error that cannot be told is still one
        return "(its text cannot be shown)"


def _is_items(given: object) -> TypeIs[AsyncIterator[object]]:
    return type(given) is not CoroutineType and isinstance(given, AsyncIterator)


def _is_sync_items(given: object) -> TypeIs[Iterator[object]]:
    return type(given) is not CoroutineType and isinstance(given, Iterator)


def _is_outcome(given: object) -> TypeIs[Outcome[object, object]]:
    return isinstance(given, Success | Failure)


async def _last_of_thread(items: Iterator[object], waiting: Waiting, progress: Progress) -> object:
    """As `_last_of`; each item is asked for in a worker thread."""
    last: object = None
    while (item := await waiting.in_thread(lambda: next(items, _END))) is not _END:
        _show(item, progress)
        last = item
    return last


_END = object()


async def _last_of(items: AsyncIterator[object], progress: Progress) -> object:
    """Show each item as it comes; the last is also the result."""
    last: object = None
    try:
        async for item in items:
            _show(item, progress)
            last = item
    finally:
        close: object = getattr(items, "aclose", None)
        if callable(close):
            closing: object = close()
            if isinstance(closing, Awaitable):
                await closing
    return last


def _show(item: object, progress: Progress) -> None:
    match encode_result(item):
        case Success(text):
            progress(text)
        case Failure(_):
            pass  # the last item decides; what has no JSON form can be shown to nobody


def encoded_outcome(given: object) -> ToolOutcome:
    """Encode what a tool gave: a value, or an `Outcome`."""
    if type(given) is str:
        return ToolSucceeded(TextOutput(without_lone_surrogates(given)))
    if _is_outcome(given):
        match given:
            case Success(value):
                return encoded_outcome(value)
            case Failure(error):
                return _failure(error)
    match encode_result(given):
        case Success(text):
            return ToolSucceeded(JsonOutput(text))
        case Failure(fault):
            where = f" at {fault.pointer}" if fault.pointer else ""
            return ToolFailed(f"the tool's result has no JSON form{where}: {fault.message}")


def _failure(error: object) -> ToolOutcome:
    """A failure that a tool returned: in words for the model, and encoded for the program."""
    if isinstance(error, str):
        text = without_lone_surrogates(error)
        return ToolFailed(text, value=JsonText.of(text))
    match encode_result(error):
        case Success(document):
            return ToolFailed(f"{type(error).__name__}: {document.text}", value=document)
        case Failure(_):
            return ToolFailed(error_text(error))
