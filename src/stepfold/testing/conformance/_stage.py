"""The check of a stage of a pipeline: how it composes, and what comes of running it."""

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Final, Never, cast, final

from typing_extensions import TypeVar

from stepfold.pipeline import Stage, StageCrashed, identity
from stepfold.schema import Form, bind, schema_of
from stepfold.testing import laws
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
from stepfold.values import Outcome, Success, UsageError, fold

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")

_ASYNCIO: Final = ("asyncio",)
_CLOSELY: Final = 5

_EQUAL: Final = StatedLaw(
    "a stage is equal to itself with identity() before or after, and hashed alike",
    "a callable object without a hash",
)
_FORM: Final = StatedLaw(
    "what goes into a kept stage and comes out has a JSON form", "a missing annotation"
)
_ENDS: Final = StatedLaw("a stage ends", "waiting for what never comes")
_RAISES: Final = StatedLaw("a stage gives a value or a failure, and raises nothing", "`words[0]`")
_LEAVES: Final = StatedLaw("a stage leaves its input as it was", "`items.sort()`")
_BLOCKS: Final = StatedLaw(
    "a stage does not block the event loop", "a client that is not async, in an async function"
)
_CANCELLED: Final = StatedLaw(
    "a stage ends promptly when it is cancelled", "`except BaseException`"
)
_PURE: Final = StatedLaw(
    "one input has one outcome", "a clock; say `is_pure=False` where a model or the world is asked"
)
_COMPOSES: Final = StatedLaw(
    "an outcome does not depend on what a stage is put together with", "a counter of its runs"
)

_OF_RUNS: Final = (_ENDS, _RAISES, _LEAVES, _BLOCKS, _PURE, _CANCELLED, _COMPOSES)
STAGE_LAWS: Final = (_EQUAL, _FORM, *_OF_RUNS)
"""What `check_stage` asks of a stage, in the order in which it is told."""


def check_stage(
    stage: Stage[A, B, E],
    *,
    given: "Sequence[A] | SearchStrategy[A]" = (),
    execute: bool = False,
    examples: int = 25,
    is_pure: bool = True,
    is_kept: bool = False,
    backends: Sequence[str] = _ASYNCIO,
) -> None:
    """Check a stage, of whatever it is made, against the laws of pipelines (law 17).

    Nothing is run unless inputs are `given`, or `execute` says that they may be drawn: from the
    JSON Schema of the annotation, bound to its type. The smallest input that breaks a law is
    told. A stage passes if

    - a stage is equal to itself with identity() before or after, and hashed alike;
    - with `is_kept`, what goes into a kept stage and comes out has a JSON form: annotations tell
      its type, so that it can be kept in a journal;

    and for each input

    - a stage ends;
    - a stage gives a value or a failure, and raises nothing, which would be a defect;
    - a stage leaves its input as it was;
    - a stage does not block the event loop;
    - with `is_pure`, one input has one outcome, on each event loop;

    and for each input that is given in a list, and for the first few that are drawn,

    - a stage ends promptly when it is cancelled;
    - with `is_pure`, an outcome does not depend on what a stage is put together with.

    Say `is_pure=False` of one that asks a model or the world.

    Args:
        stage: What `stage`, `pure`, an agent's `stage` and the combinators make.
        given: What it is run on: a list of inputs, or a strategy of hypothesis that draws them.
        execute: Whether it may be run on inputs from its annotation as well.
        examples: How many inputs are drawn, for ten seconds of running at most; on a pure stage
            each means two runs.
        is_pure: Whether its outcome depends on its input alone.
        is_kept: Whether it is to be kept in a journal.
        backends: The event loops on which it is run: `asyncio`, `trio`.

    Raises:
        AssertionError: one of these does not hold; the text tells the input and what came of it.
        UsageError: this is no stage, or it waits for inputs, which only a kept run can; an event
            loop is not installed; or inputs are to be drawn, and no annotation tells of what type,
            or hypothesis (the extra `testing`) is missing.
    """
    made: object = stage
    if type(made) is not Stage:
        msg = f"check_stage: expected a stage, such as @sf.stage makes, got {made!r:.200}"
        raise UsageError(msg)
    require_loops("check_stage", backends)
    findings = findings_on(STAGE_LAWS)
    trial = _Trial(stage, findings, backends, is_pure=is_pure)
    with findings.trying(_EQUAL):
        trial.is_a_unit()
    if is_kept:
        with findings.trying(_FORM):
            trial.has_a_form()
    listed, drawn = _inputs(trial.stage, given, execute=execute)
    if not is_kept:
        findings.leave_out("say is_kept=True", _FORM)
    if not is_pure:
        findings.leave_out("is_pure=False says so", _PURE, _COMPOSES)
    if not listed and (drawn is None or not examples):
        findings.leave_out("say given=[…]" if execute else "say execute=True", *_OF_RUNS)
    for value in listed:
        findings.count()
        for tried in (trial.is_run_on, trial.is_looked_at_closely):
            with findings.trying():
                tried(value)
    if drawn is not None and examples:
        lacking = None if listed else "check_stage: found no input to run it on; give some, given=…"
        for tried, budget in (
            (trial.is_run_on, examples),
            (trial.is_looked_at_closely, min(examples, _CLOSELY)),
        ):
            hold(findings, tried, drawn, examples=budget, seconds=RUNNING, lacking=lacking)


def _inputs(
    stage: Stage[object, object, object],
    given: "Sequence[object] | SearchStrategy[object]",
    *,
    execute: bool,
) -> "tuple[Sequence[object], SearchStrategy[object] | None]":
    """Inputs as they are given, and a strategy of others, if some are to be drawn.

    Raises:
        UsageError: nothing tells what to draw, or hypothesis is missing.
    """
    listed, drawn = parted("check_stage", given)
    if execute:
        form = stage.forms()["given"]
        if form is not None:
            require_hypothesis("check_stage")
            of_form = _drawn_by(form)
            return listed, of_form if drawn is None else drawn | of_form
        if drawn is None and not listed:
            msg = (
                "check_stage: expected inputs to run it on, since no annotation tells of what type "
                "they are, or it has no JSON form: give some, given=[…], or annotate the parameter"
            )
            raise UsageError(msg)
    return listed, drawn


def _drawn_by(form: Form) -> "SearchStrategy[object]":
    """Inputs as JSON tells them, bound to the type; those that the type refuses are left out."""
    from stepfold.testing.strategies import schema_documents

    def bound(document: object) -> Outcome[object, object]:
        return bind(form, document)

    outcomes = schema_documents(schema=schema_of(form)).map(bound)
    return outcomes.filter(lambda it: isinstance(it, Success)).map(lambda it: it.unwrap())


@final
class _Trial:
    """A stage, and what it is run on."""

    def __init__(
        self,
        stage: Stage[A, B, E],
        findings: Findings,
        backends: Sequence[str],
        *,
        is_pure: bool,
    ) -> None:
        self.stage: Final = cast("Stage[object, object, object]", stage)
        self._findings: Final = findings
        self._backends: Final = backends
        self._is_pure: Final = is_pure
        self._name: Final = stage.tree().splitlines()[0].strip()

    def is_a_unit(self) -> None:
        """`identity()` changes nothing, also by `==`, which every test of wiring needs."""
        stage, unit = self.stage, _unit()
        same = (stage, unit >> stage, stage >> unit)
        try:
            alike = all(one == stage for one in same) and len(set(map(hash, same))) == 1
        except Exception as error:  # noqa: BLE001 - whatever a part of it raises is what is told
            self._broken(
                _EQUAL,
                came=f"{type(error).__name__}: {error}",
                remedy="make stages of functions, or of objects that are equal and hashed alike",
            )
        if not alike:
            self._broken(_EQUAL, came="another one, or another hash")

    def has_a_form(self) -> None:
        """What goes over the borders of a kept stage can be written down."""
        for what, form in self.stage.forms().items():
            if form is None:
                self._broken(
                    _FORM,
                    of=what,
                    came="no annotation, or a type without a JSON form",
                    remedy="annotate the functions by types such as attrs classes",
                )

    def is_run_on(self, value: object) -> None:
        """It ends as it must, on each event loop alike."""
        shown = f"{value!r:.300}"
        kept = _copied(value)
        told = {f"on {where}": self._outcome(value, where, shown) for where in self._backends}
        if kept is not None and kept[0] != value:
            self._broken(_LEAVES, given=shown, came=f"{value!r:.300}")
        self._findings.tried(_LEAVES)
        if not self._is_pure:
            return
        with self._findings.trying(_PURE):
            told["again"] = self._outcome(value, self._backends[0], shown)
            if any(outcome != told["again"] for outcome in told.values()):
                self._broken(
                    _PURE,
                    given=shown,
                    **{name: _told(outcome) for name, outcome in told.items()},
                    remedy="say is_pure=False of a stage that asks a model or the world",
                )

    def is_looked_at_closely(self, value: object) -> None:
        """It can be cancelled, and does the same in company: what takes more runs to see."""
        shown = f"{value!r:.300}"
        with self._findings.trying(_CANCELLED):
            for where in self._backends:
                self._is_cancelled(value, where, shown)
        if self._is_pure and not self._findings.known.keys() & {_LEAVES, _PURE}:
            with self._findings.trying(_COMPOSES):
                self._composes(value, shown)

    def _composes(self, value: object, shown: str) -> None:
        async def composed() -> Sequence[object]:
            try:
                await laws.stages_compose(_unit(), self.stage, _unit(), value)
                await laws.mapping_fuses(self.stage, _boxed, _boxed, value)
                await laws.failures_skip(self.stage, value)
            except AssertionError as error:
                return (error,)
            return ()

        for error in self._ended(composed, self._backends[0], shown).results:
            self._broken(_COMPOSES, given=shown, came=error)

    def _outcome(self, value: object, where: str, shown: str) -> object:
        def once() -> Ended:
            return self._ended(self._running(value), where, shown)

        ended = once()
        if _BLOCKS not in self._findings.known:
            blocked = for_sure(ended, once, was_blocked)
            if blocked:
                self._broken(
                    _BLOCKS,
                    given=shown,
                    came=f"nothing else ran for {blocked:.1f} seconds",
                    remedy="await what takes long, or make it a plain function",
                )
            self._findings.tried(_BLOCKS)
        return ended.results[0]

    def _is_cancelled(self, value: object, where: str, shown: str) -> None:
        def once() -> Ended:
            return self._ended(cancelled(self._running(value)), where, shown)

        late = for_sure(once(), once, was_late)
        if late:
            came = f"it went on for {late:.1f} seconds"
            self._broken(_CANCELLED, given=shown, came=came, on=where)

    def _running(self, value: object) -> Work:
        async def run() -> Sequence[object]:
            return (await self.stage.run(value, seed=0),)

        return run

    def _ended(self, work: Work, where: str, shown: str) -> Ended:
        ended = watched(work, where)
        if ended is None:
            told = f"it had not ended after {_watched.PATIENCE:g} seconds"
            self._broken(_ENDS, given=shown, came=told, on=where)
        self._findings.tried(_ENDS)
        if ended.error is not None:
            self._refuse(ended.error, where, shown)
        self._findings.tried(_RAISES)
        return ended

    def _refuse(self, error: BaseException, where: str, shown: str) -> Never:
        if isinstance(error, UsageError):
            raise error
        told = f"{'' if isinstance(error, StageCrashed) else f'{type(error).__name__}: '}{error}"
        self._broken(_RAISES, given=shown, came=told, on=where)

    def _broken(self, law: StatedLaw, **told: object) -> Never:
        break_law(self._name, law, **told)


def _unit() -> Stage[object, object, Never]:
    return identity()


def _copied(value: object) -> tuple[object] | None:
    """A copy to compare with later; `None` where there is none that is equal."""
    try:
        copy = deepcopy(value)
    except Exception:  # noqa: BLE001 - what cannot be copied is not compared
        return None
    return (copy,) if copy == value else None


def _boxed(value: object) -> tuple[object]:
    return (value,)


def _told(outcome: object) -> str:
    made = cast("Outcome[object, object]", outcome)
    return fold(made, lambda it: f"value {it!r:.200}", lambda it: f"failure {it!r:.200}")
