"""The check of a stage of a pipeline: how it composes, and what comes of running it."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Final, Never, cast, final

from typing_extensions import TypeVar

from stepfold.pipeline import Stage, StageCrashed, identity
from stepfold.testing import laws
from stepfold.testing.conformance import _watched
from stepfold.testing.conformance._drawn import broken
from stepfold.testing.conformance._watched import Ended, Work, cancelled, was_late, watched
from stepfold.values import Outcome, UsageError, fold

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")

_ASYNCIO: Final = ("asyncio",)


def check_stage(
    stage: Stage[A, B, E],
    *,
    given: Sequence[A] = (),
    is_pure: bool = True,
    is_kept: bool = False,
    backends: Sequence[str] = _ASYNCIO,
) -> None:
    """Check a stage, of whatever it is made, against the laws of pipelines (law 17).

    Nothing is run unless inputs are `given`. A stage passes if

    - it is equal to itself with `identity()` before or after, and all these have one hash;
    - with `is_kept`, annotations tell what goes in and comes out, and both have a JSON form, so
      that it can be kept in a journal;

    and for each input that is given

    - it ends with a value or a failure; it raises nothing, which would be a defect;
    - it leaves its input as it was;
    - it does not block the event loop, and ends promptly when it is cancelled;
    - with `is_pure`, one input has one outcome, on each event loop and whatever it is put together
      with; say `is_pure=False` of one that asks a model or the world.

    Args:
        stage: What `stage`, `pure`, an agent's `stage` and the combinators make.
        given: What it is run on.
        is_pure: Whether its outcome depends on its input alone.
        is_kept: Whether it is to be kept in a journal.
        backends: The event loops on which it is run: `asyncio`, `trio`.

    Raises:
        AssertionError: one of these does not hold; the text tells the input and what came of it.
        UsageError: this is no stage, or it waits for inputs, which only a kept run can.
    """
    made: object = stage
    if type(made) is not Stage:
        msg = f"check_stage: expected a stage, such as @sf.stage makes, got {made!r:.200}"
        raise UsageError(msg)
    trial = _Trial(stage, backends, is_pure=is_pure)
    trial.is_a_unit()
    if is_kept:
        trial.has_a_form()
    for value in given:
        trial.is_run_on(value)


@final
class _Trial:
    """A stage, and what it is run on."""

    def __init__(self, stage: Stage[A, B, E], backends: Sequence[str], *, is_pure: bool) -> None:
        self._stage: Final = cast("Stage[object, object, object]", stage)
        self._backends: Final = backends
        self._is_pure: Final = is_pure
        self._name: Final = stage.tree().splitlines()[0].strip()

    def is_a_unit(self) -> None:
        """`identity()` changes nothing, also by `==`, which every test of wiring needs."""
        stage, unit = self._stage, _unit()
        same = (stage, unit >> stage, stage >> unit)
        try:
            alike = all(one == stage for one in same) and len(set(map(hash, same))) == 1
        except Exception as error:  # noqa: BLE001 - whatever a part of it raises is what is told
            self._broken(
                "stages can be compared and hashed",
                came=f"{type(error).__name__}: {error}",
                remedy="make stages of functions, or of objects that are equal and hashed alike",
            )
        if not alike:
            self._broken("a stage is equal to itself", came="another one, or another hash")

    def has_a_form(self) -> None:
        """What goes over the borders of a kept stage can be written down."""
        for what, schema in self._stage.schemas().items():
            if schema is None:
                self._broken(
                    "what goes into a kept stage and comes out has a JSON form",
                    of=what,
                    came="no annotation, or a type without a JSON form",
                    remedy="annotate the functions by types such as attrs classes",
                )

    def is_run_on(self, value: object) -> None:
        """It ends as it must, on each event loop alike."""
        shown = f"{value!r:.300}"
        kept = _copied(value)
        first = {where: self._outcome(value, where, shown) for where in self._backends}
        if kept is not None and kept[0] != value:
            self._broken("a stage leaves its input as it was", given=shown, came=f"{value!r:.300}")
        for where in self._backends:
            self._is_cancelled(value, where, shown)
        if not self._is_pure:
            return
        outcomes = [*first.values(), self._outcome(value, self._backends[0], shown)]
        if any(outcome != outcomes[0] for outcome in outcomes):
            told = dict(
                zip((*(f"on {it}" for it in self._backends), "again"), outcomes, strict=True)
            )
            self._broken(
                "one input has one outcome",
                given=shown,
                **{name: _told(outcome) for name, outcome in told.items()},
                remedy="say is_pure=False of a stage that asks a model or the world",
            )
        self._composes(value, shown)

    def _composes(self, value: object, shown: str) -> None:
        async def composed() -> Sequence[object]:
            await laws.stages_compose(_unit(), self._stage, _unit(), value)
            await laws.mapping_fuses(self._stage, _boxed, _boxed, value)
            await laws.failures_skip(self._stage, value)
            return ()

        self._ended(composed, self._backends[0], shown)

    def _outcome(self, value: object, where: str, shown: str) -> object:
        async def run() -> Sequence[object]:
            return (await self._stage.run(value, seed=0),)

        ended = self._ended(run, where, shown)
        if ended.blocked > _watched.BLOCKED:
            self._broken(
                "a stage does not block the event loop",
                given=shown,
                came=f"nothing else ran for {ended.blocked:.1f} seconds",
                remedy="await what takes long, or make it a plain function",
            )
        return ended.results[0]

    def _is_cancelled(self, value: object, where: str, shown: str) -> None:
        async def run() -> Sequence[object]:
            return (await self._stage.run(value, seed=0),)

        late = was_late(self._ended(cancelled(run), where, shown))
        if late:
            self._broken(
                "a stage ends promptly when it is cancelled",
                given=shown,
                came=f"it went on for {late:.1f} seconds",
                on=where,
            )

    def _ended(self, work: Work, where: str, shown: str) -> Ended:
        ended = watched(work, where)
        if ended is None:
            told = f"it had not ended after {_watched.PATIENCE:g} seconds"
            self._broken("a stage ends", given=shown, came=told, on=where)
        if ended.error is not None:
            self._refuse(ended.error, where, shown)
        return ended

    def _refuse(self, error: BaseException, where: str, shown: str) -> Never:
        if isinstance(error, UsageError):
            raise error
        if isinstance(error, AssertionError):
            self._broken(str(error), given=shown)
        law = "a stage gives a value or a failure, and raises nothing"
        told = f"{'' if isinstance(error, StageCrashed) else f'{type(error).__name__}: '}{error}"
        self._broken(law, given=shown, came=told, on=where)

    def _broken(self, law: str, **told: object) -> Never:
        broken(f"{self._name}: {law}", **told)


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
