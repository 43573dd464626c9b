"""The check of a tool: what a model, a run and a journal need of it."""

import json
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Never, TypeAlias, cast, final

from typing_extensions import TypeIs

from stepfold.schema import Faults, encode_result
from stepfold.shell import AnyTool, ToolContext
from stepfold.testing.conformance import _watched
from stepfold.testing.conformance._drawn import RUNNING, hold, parted, require_hypothesis
from stepfold.testing.conformance._findings import Findings, StatedLaw, break_law, findings_on
from stepfold.testing.conformance._watched import (
    Ended,
    Work,
    cancelled,
    for_sure,
    require_loops,
    was_blocked,
    was_late,
    watched,
)
from stepfold.testing.exploration import sample_arguments
from stepfold.values import Failure, JsonText, Outcome, Success, UsageError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_Arguments: TypeAlias = Mapping[str, object]
_NONE_GIVEN: Final[Sequence[_Arguments]] = ()
_ASYNCIO: Final = ("asyncio",)
_RAISED: Final = "it raised "
_RUN_ONE_IN: Final = 4
_CLOSELY: Final = 5

_TOLD: Final = StatedLaw("a tool tells the model what it does", "no docstring and no description")
_ACCEPTS: Final = StatedLaw(
    "a tool accepts its arguments", "arguments that are given and that its schema excludes"
)
_BINDS: Final = StatedLaw(
    "arguments are bound alike each time", "a converter that counts; a validator with a clock"
)
_ENDS: Final = StatedLaw("a tool ends", "waiting for what never comes")
_RETURNS: Final = StatedLaw("a tool returns, or raises an Exception", "`sys.exit()`")
_JSON: Final = StatedLaw(
    "what a tool returns has a JSON form, preliminary results included", "a file handle; NaN"
)
_SHOWN: Final = StatedLaw(
    "what a tool returns can be shown to the model", "a `to_model_output` that raises"
)
_IDEMPOTENT: Final = StatedLaw(
    "an idempotent tool gives the same when it is run again", "a counter; a new id each time"
)
_BLOCKS: Final = StatedLaw(
    "an async tool does not block the event loop", "a client that is not async; `time.sleep()`"
)
_CANCELLED: Final = StatedLaw(
    "an async tool ends promptly when it is cancelled", "`except BaseException`"
)
_LOOPS: Final = StatedLaw(
    "a tool ends alike on each event loop it is for", "`asyncio.sleep()`, on trio"
)

_OF_RUNS: Final = (_ENDS, _RETURNS, _JSON, _SHOWN, _IDEMPOTENT, _BLOCKS, _CANCELLED, _LOOPS)
TOOL_LAWS: Final = (_TOLD, _ACCEPTS, _BINDS, *_OF_RUNS)
"""What `check_tool` asks of a tool, in the order in which it is told."""


def check_tool(
    tool: AnyTool[Never, object],
    *,
    arguments: "Sequence[_Arguments] | SearchStrategy[_Arguments]" = _NONE_GIVEN,
    deps: object = None,
    execute: bool = False,
    examples: int = 100,
    backends: Sequence[str] = _ASYNCIO,
) -> None:
    """Check a tool against what a model, a run and a journal need of it.

    It is tried with `arguments`, and with others that hypothesis draws from its schema. The
    smallest call that breaks a law is told. Nothing of the tool runs but validators and converters
    of its arguments, unless `execute` says so. A tool passes if

    - a tool tells the model what it does;
    - a tool accepts its arguments;
    - arguments are bound alike each time;

    and with `execute`

    - a tool ends;
    - a tool returns, or raises an Exception: it neither ends the process nor says that it was
      cancelled;
    - what a tool returns has a JSON form, preliminary results included;
    - what a tool returns can be shown to the model;
    - declared `idempotent`, an idempotent tool gives the same when it is run again;
    - an async tool does not block the event loop;
    - an async tool ends promptly when it is cancelled;
    - a tool ends alike on each event loop it is for.

    Args:
        tool: What `@tool`, `client_tool` or `dynamic_tool` made.
        arguments: What it is called with: a list of mappings, one a call, or a strategy of
            hypothesis that draws them.
        deps: What its `ToolContext` holds.
        execute: Whether it may be run.
        examples: How many arguments are drawn and bound. With `execute` a quarter of so many calls
            are run, for ten seconds at most, and five more are cancelled. With 0 only `arguments`
            are tried, or one simple call that is made without hypothesis.
        backends: The event loops on which an async one is run: `asyncio`, `trio`.

    Raises:
        AssertionError: one of these does not hold; the text tells the call and what came of it.
        UsageError: this is no tool; no arguments were found that it accepts; an event loop is not
            installed; or hypothesis (the extra `testing`) is missing, and `examples` is not 0.
    """
    given: object = tool
    if not _is_tool(given):
        msg = f"check_tool: expected a tool, made by @sf.tool, got {given!r:.200}"
        raise UsageError(msg)
    require_loops("check_tool", backends)
    findings = findings_on(TOOL_LAWS)
    execute = execute and tool.options.executes
    trial = _Trial(tool, findings, deps, backends if tool.is_async else _ASYNCIO)
    trial.say_what_is_left_out(is_run=execute)
    with findings.trying(_TOLD):
        trial.is_told()
    given_ones, strategy = parted("check_tool", arguments)
    listed = [_text(one) for one in given_ones]
    if not listed and not examples:
        listed = [sample_arguments(tool.spec)]
    attempts = (trial.is_bound, *((trial.is_run_on, trial.is_cancelled_on) if execute else ()))
    for text in listed:
        findings.count()
        for attempt in attempts:
            with findings.trying():
                attempt(text)
    if examples:
        drawn = _drawn_for(tool, strategy)
        lacking = f"check_tool: found no arguments that {tool.name} accepts; give some, arguments=…"
        budgets = (examples, -(-examples // _RUN_ONE_IN), min(examples, _CLOSELY))
        for attempt, budget in zip(attempts, budgets, strict=False):
            hold(
                findings,
                attempt,
                drawn,
                examples=budget,
                seconds=RUNNING,
                lacking=None if listed else lacking,
            )


def _drawn_for(
    tool: AnyTool[Never, object], strategy: "SearchStrategy[_Arguments] | None"
) -> "SearchStrategy[str]":
    """Calls that keep to the schema of a tool, and those that the user draws.

    Raises:
        UsageError: hypothesis is missing.
    """
    require_hypothesis("check_tool")
    from stepfold.testing.strategies import schema_documents

    documents = schema_documents(schema=tool.spec.definition.input_schema)
    return documents.map(_text) if strategy is None else (documents | strategy).map(_text)


def _text(arguments: object) -> str:
    """The arguments as JSON, what cannot be seen escaped."""
    text = json.dumps(arguments, ensure_ascii=False, default=dict)
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


@final
class _Trial:
    """A tool, and the calls that are tried."""

    def __init__(
        self,
        tool: AnyTool[Never, object],
        findings: Findings,
        deps: object,
        backends: Sequence[str],
    ) -> None:
        self._tool: Final = tool
        self._findings: Final = findings
        self._deps: Final = deps
        self._backends: Final = backends

    def say_what_is_left_out(self, *, is_run: bool) -> None:
        """Tell which laws are not tried on this tool, and why."""
        leave_out = self._findings.leave_out
        if not self._tool.options.executes:
            leave_out("it is run elsewhere", *_OF_RUNS)
        if not self._tool.is_async:
            leave_out("it is not async", _BLOCKS, _CANCELLED, _LOOPS)
        if not self._tool.options.idempotent:
            leave_out("it is not idempotent", _IDEMPOTENT)
        if len(self._backends) < 2:
            leave_out('say backends=["asyncio", "trio"]', _LOOPS)
        if not is_run:
            leave_out("say execute=True", *_OF_RUNS)

    def is_told(self) -> None:
        """A model that is told nothing of a tool cannot know when to call it."""
        if not self._tool.description.strip():
            self._broken(
                _TOLD,
                came="an empty description",
                remedy="write a docstring, or give a description",
            )

    def is_bound(self, text: str) -> None:
        """The arguments are accepted, and bound alike each time."""
        faults = self._tool.spec.check(json.loads(text))
        if faults:
            self._broken(_ACCEPTS, call=text, came=f"{faults[0]}")
        self._findings.tried(_ACCEPTS)
        first, again = self._bound(text), self._bound(text)
        if first != again:
            self._broken(_BINDS, call=text, first=f"{first!r:.300}", then=f"{again!r:.300}")
        self._findings.tried(_BINDS)

    def is_run_on(self, text: str) -> None:
        """It ends as it must, on each event loop alike."""
        if isinstance(self._bound(text), Failure):  # the model is told, and nothing runs
            self._findings.leave_out("its validators refuse all calls: give some", *_OF_RUNS)
            return
        came = {where: self._is_run(text, where) for where in self._backends}
        fails = [told for told in came.values() if told.startswith(_RAISED)]
        if fails and len(fails) < len(came):
            told = {f"on {where}": told for where, told in came.items()}
            self._broken(_LOOPS, call=text, **told)
        if len(came) > 1:
            self._findings.tried(_LOOPS)

    def _is_run(self, text: str, where: str) -> str:
        first = self._run(text, where)
        if self._tool.options.idempotent:
            with self._findings.trying(_IDEMPOTENT):
                again = self._run(text, where)
                if first != again:
                    self._broken(_IDEMPOTENT, call=text, first=first, then=again)
        return first

    def _run(self, text: str, where: str) -> str:
        """Run it once, and give what came of it, in words."""

        def once() -> Ended:
            return self._ended(text, where, lambda: self._called(text))

        ended = once()
        if ended.error is not None:
            return f"{_RAISED}{type(ended.error).__name__}: {ended.error}"
        if self._tool.is_async and _BLOCKS not in self._findings.known:
            self._does_not_block(text, for_sure(ended, once, was_blocked))
            self._findings.tried(_BLOCKS)
        with self._findings.trying(_SHOWN):
            if ended.results and not isinstance(ended.results[-1], Failure):
                self._is_shown(text, _value(ended.results[-1]))
        documents = [self._encoded(text, _value(result)) for result in ended.results]
        self._findings.tried(_JSON)
        return documents[-1].text if documents else "null"

    def _does_not_block(self, text: str, blocked: float) -> None:
        if blocked:
            self._broken(
                _BLOCKS,
                call=text,
                came=f"nothing else ran for {blocked:.1f} seconds",
                remedy="await what takes long, or make it a plain function",
            )

    def _is_shown(self, text: str, given: object) -> None:
        try:
            self._tool.show(given)
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            came = f"to_model_output raised {type(error).__name__}: {error}"
            self._broken(_SHOWN, call=text, came=came)

    def _encoded(self, text: str, given: object) -> JsonText:
        encoded = encode_result(given)
        if isinstance(encoded, Failure):
            fault = encoded.failure()
            self._broken(_JSON, call=text, came=f"{fault.pointer or 'the result'}: {fault.message}")
        return encoded.unwrap()

    def is_cancelled_on(self, text: str) -> None:
        """An async one ends soon after it is told to."""
        if not self._tool.is_async or isinstance(self._bound(text), Failure):
            return
        for where in self._backends:

            def once(at: str = where) -> Ended:
                return self._ended(text, at, cancelled(lambda: self._called(text)))

            late = for_sure(once(), once, was_late)
            if late:
                came = f"it went on for {late:.1f} seconds"
                self._broken(_CANCELLED, call=text, came=came, on=where)
        self._findings.tried(_CANCELLED)

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
            came = f"it had not ended after {_watched.PATIENCE:g} seconds"
            self._broken(_ENDS, call=text, came=came, on=where)
        self._findings.tried(_ENDS)
        if ended.error is not None and not isinstance(ended.error, Exception):
            came = f"{type(ended.error).__name__}: {ended.error}"
            self._broken(_RETURNS, call=text, came=came, on=where)
        self._findings.tried(_RETURNS)
        return ended

    def _broken(self, law: StatedLaw, **told: object) -> Never:
        break_law(self._tool.name, law, **told)


def _value(given: object) -> object:
    """What a tool gave, without the `Outcome` around it."""
    if isinstance(given, Success):
        return cast("Success[object]", given).unwrap()
    if isinstance(given, Failure):
        return cast("Failure[object]", given).failure()
    return given


def _is_tool(given: object) -> TypeIs[AnyTool[Never, object]]:
    return isinstance(given, AnyTool)
