"""The check of a tool: what a model, a run and a journal need of it."""

import json
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from typing import Final, Never, cast, final

from typing_extensions import TypeIs

from stepfold.schema import Faults, encode_result
from stepfold.shell import AnyTool, ToolContext
from stepfold.testing.conformance import _watched
from stepfold.testing.conformance._drawn import broken
from stepfold.testing.conformance._watched import Ended, Work, cancelled, was_late, watched
from stepfold.testing.exploration import sample_arguments
from stepfold.values import Failure, JsonText, Outcome, Success, UsageError

_NONE_GIVEN: Final[Sequence[Mapping[str, object]]] = ()
_ASYNCIO: Final = ("asyncio",)
_RAISED: Final = "it raised "


def check_tool(
    tool: AnyTool[Never, object],
    *,
    arguments: Sequence[Mapping[str, object]] = _NONE_GIVEN,
    deps: object = None,
    execute: bool = False,
    backends: Sequence[str] = _ASYNCIO,
) -> None:
    """Check a tool against what a model, a run and a journal need of it.

    It is tried with `arguments`, else with simple ones that are made from its schema. Nothing of
    it runs but validators and converters of its arguments, unless `execute` says so. A tool passes
    if

    - it tells the model what it does, and accepts the arguments;
    - arguments are bound alike each time;

    and with `execute`, for all arguments,

    - it returns or raises an `Exception`; it does not end the process, nor claim to be cancelled;
    - what it returns, each preliminary result included, has a JSON form, also as the model sees it;
    - declared `idempotent`, it gives the same when it is run again;
    - an async one does not block the event loop, and ends promptly when it is cancelled.

    Args:
        tool: What `@tool`, `client_tool` or `dynamic_tool` made.
        arguments: What it is called with, one mapping a call.
        deps: What its `ToolContext` holds.
        execute: Whether it may be run.
        backends: The event loops on which an async one is run: `asyncio`, `trio`.

    Raises:
        AssertionError: one of these does not hold; the text tells the call and what came of it.
        UsageError: this is no tool, or no arguments were found that it accepts.
    """
    given: object = tool
    if not _is_tool(given):
        msg = f"check_tool: expected a tool, made by @sf.tool, got {given!r:.200}"
        raise UsageError(msg)
    trial = _Trial(tool, deps)
    trial.is_told()
    texts = [json.dumps(dict(one)) for one in arguments] or [sample_arguments(tool.spec)]
    for text in texts:
        trial.is_bound(text)
        if execute and tool.options.executes:
            trial.is_run_on(text, backends if tool.is_async else _ASYNCIO)


@final
class _Trial:
    """A tool, and the calls that are tried."""

    def __init__(self, tool: AnyTool[Never, object], deps: object) -> None:
        self._tool: Final = tool
        self._deps: Final = deps

    def is_told(self) -> None:
        """A model that is told nothing of a tool cannot know when to call it."""
        if not self._tool.description.strip():
            self._broken(
                "a tool tells the model what it does",
                came="an empty description",
                remedy="write a docstring, or give a description",
            )

    def is_bound(self, text: str) -> None:
        """The arguments are accepted, and bound alike each time."""
        faults = self._tool.spec.check(json.loads(text))
        if faults:
            self._broken("a tool accepts its arguments", call=text, came=f"{faults[0]}")
        first, again = self._bound(text), self._bound(text)
        if first != again:
            self._broken(
                "arguments are bound alike each time",
                call=text,
                first=f"{first!r:.300}",
                then=f"{again!r:.300}",
            )

    def is_run_on(self, text: str, backends: Sequence[str]) -> None:
        """It ends as it must, on each event loop alike."""
        if isinstance(self._bound(text), Failure):
            return  # its validators refuse the call, and the model is told
        came = {where: self._is_run(text, where) for where in backends}
        fails = {where: told for where, told in came.items() if told.startswith(_RAISED)}
        if fails and len(fails) < len(came):
            self._broken(
                "a tool ends alike on each event loop it is for",
                call=text,
                **{f"on {where}": told for where, told in came.items()},
            )

    def _is_run(self, text: str, where: str) -> str:
        first = self._run(text, where)
        if self._tool.options.idempotent:
            again = self._run(text, where)
            if first != again:
                self._broken(
                    "an idempotent tool gives the same when it is run again",
                    call=text,
                    first=first,
                    then=again,
                )
        if self._tool.is_async:
            self._is_cancelled(text, where)
        return first

    def _run(self, text: str, where: str) -> str:
        """Run it once, and give what came of it, in words."""
        ended = self._ended(text, where, lambda: self._called(text))
        if ended.error is not None:
            return f"{_RAISED}{type(ended.error).__name__}: {ended.error}"
        if ended.blocked > _watched.BLOCKED and self._tool.is_async:
            self._broken(
                "an async tool does not block the event loop",
                call=text,
                came=f"nothing else ran for {ended.blocked:.1f} seconds",
                remedy="await what takes long, or make it a plain function",
            )
        documents = [self._encoded(text, _value(result)) for result in ended.results]
        if ended.results and not isinstance(ended.results[-1], Failure):
            self._is_shown(text, _value(ended.results[-1]))
        return documents[-1].text if documents else "null"

    def _is_shown(self, text: str, given: object) -> None:
        try:
            self._tool.show(given)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            self._broken(
                "what a tool returns can be shown to the model",
                call=text,
                came=f"to_model_output raised {type(error).__name__}: {error}",
            )

    def _encoded(self, text: str, given: object) -> JsonText:
        encoded = encode_result(given)
        if isinstance(encoded, Failure):
            fault = encoded.failure()
            self._broken(
                "what a tool returns has a JSON form",
                call=text,
                came=f"{fault.pointer or 'the result'}: {fault.message}",
            )
        return encoded.unwrap()

    def _is_cancelled(self, text: str, where: str) -> None:
        ended = self._ended(text, where, cancelled(lambda: self._called(text)))
        late = was_late(ended)
        if late:
            self._broken(
                "an async tool ends promptly when it is cancelled",
                call=text,
                came=f"it went on for {late:.1f} seconds",
                on=where,
            )

    async def _called(self, text: str) -> Sequence[object]:
        """Call the function, and give its results: one, or several of which the last counts."""
        args, keywords = self._bound(text).unwrap()
        if self._tool.takes_context:
            args = (ToolContext(self._deps, "call-1", 0, (), "run/0/0"), *args)
        given = self._tool.invoke(args, keywords)
        if isinstance(given, Awaitable):
            given = await cast("Awaitable[object]", given)
        results: Sequence[object] = (given,)
        if isinstance(given, AsyncIterator):
            results = [item async for item in cast("AsyncIterator[object]", given)]
        elif isinstance(given, Iterator):
            results = [*cast("Iterator[object]", given)]
        return results

    def _bound(self, text: str) -> Outcome[tuple[tuple[object, ...], dict[str, object]], Faults]:
        return self._tool.parameters.bind(json.loads(text))

    def _ended(self, text: str, where: str, work: Work) -> Ended:
        """Run something to its end."""
        ended = watched(work, where)
        if ended is None:
            self._broken(
                "a tool ends",
                call=text,
                came=f"it had not ended after {_watched.PATIENCE:g} seconds",
                on=where,
            )
        if ended.error is not None and not isinstance(ended.error, Exception):
            self._broken(
                "a tool returns, or raises an Exception",
                call=text,
                came=f"{type(ended.error).__name__}: {ended.error}",
                on=where,
            )
        return ended

    def _broken(self, law: str, **told: object) -> Never:
        broken(f"{self._tool.name}: {law}", **told)


def _value(given: object) -> object:
    """What a tool gave, without the `Outcome` around it."""
    if isinstance(given, Success):
        return cast("Success[object]", given).unwrap()
    if isinstance(given, Failure):
        return cast("Failure[object]", given).failure()
    return given


def _is_tool(given: object) -> TypeIs[AnyTool[Never, object]]:
    return isinstance(given, AnyTool)
