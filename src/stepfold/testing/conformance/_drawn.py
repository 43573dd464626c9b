"""Checks on drawn values: hypothesis finds what breaks a law, and makes it small."""

import math
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Generic, Never, TypeVar, final

from stepfold.testing.conformance._findings import Findings, LawBroken, lines_of
from stepfold.values import UsageError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

SHRINKING: Final = 10.0
"""For how many seconds values that fail are made smaller; those that pass do not count."""

RUNNING: Final = 10.0
"""For how many seconds users' code is run on drawn values; after that no more are drawn."""


def require_hypothesis(check: str) -> None:
    """Say what is missing.

    Raises:
        UsageError: hypothesis is not installed.
    """
    if find_spec("hypothesis") is None:
        raise UsageError(
            f"{check}: expected hypothesis, which draws what is tried, got an environment without: "
            "install the extra, pip install 'stepfold[testing]'"
        )


def parted(
    check: str, given: "Sequence[T] | SearchStrategy[T]"
) -> "tuple[Sequence[T], SearchStrategy[T] | None]":
    """What is given in a list, and the strategy if it is one.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(given, Sequence):
        return given, None
    require_hypothesis(check)
    if not _is_strategy(given):
        raise UsageError(f"{check}: expected a list or a strategy, got {given!r:.200}")
    return (), given


def _is_strategy(given: object) -> bool:
    from hypothesis.strategies import SearchStrategy

    return isinstance(given, SearchStrategy)


def hold(
    findings: Findings,
    check: Callable[[T], None],
    drawn: "SearchStrategy[T]",
    *,
    examples: int,
    seconds: float = math.inf,
    lacking: str | None = None,
) -> None:
    """Try a check on drawn values, always the same ones, until `seconds` are over.

    Where there is no value to be drawn, it is an error if something is said to be `lacking`.

    Raises:
        LawBroken: it fails on some, and the text is that of the smallest; or it fails on some and
            not when it is tried again.
        UsageError: there is no value to be drawn, and the text says what is `lacking`; or none are
            to be drawn.
    """
    if examples < 1:
        raise UsageError(f"examples: expected a number from 1, got {examples!r}")
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis.errors import Flaky, Unsatisfiable

    failing = _Failing(findings, check, seconds)

    def held(value: T) -> None:
        broken = failing.on(value)
        if broken is not None:
            raise broken

    tried = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=(
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
            HealthCheck.nested_given,
        ),
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
    )(given(drawn)(held))
    try:
        tried()
    except LawBroken as broken:
        raise _told_again(broken) from None
    except Flaky:
        if (told := failing.told()) is None:
            raise
        raise told from None
    except Unsatisfiable:
        if lacking is not None:
            raise UsageError(lacking) from None


@final
class _Failing(Generic[T]):
    """A check that is tried on many values, and how it failed.

    What takes long to fail would take for ever to be made small. After `SHRINKING` seconds the
    values that have failed fail again without being tried, and all others are let pass: so the
    smallest one so far is what is told. So are all where none has failed in `seconds`.
    """

    def __init__(self, findings: Findings, check: Callable[[T], None], seconds: float) -> None:
        self._findings: Final = findings
        self._check: Final = check
        self._failed: Final[dict[str, LawBroken]] = {}
        self._left = seconds

    def on(self, value: T) -> LawBroken | None:
        """Try it on a value."""
        if self._left < 0:
            return self._failed.get(repr(value))
        self._findings.count()
        began = time.monotonic()
        try:
            with self._findings.trying():
                self._check(value)
        except LawBroken as broken:
            if not self._failed:
                self._left = SHRINKING
            self._left -= time.monotonic() - began
            self._failed[repr(value)] = broken
            return broken
        if not self._failed:
            self._left -= time.monotonic() - began
        return None

    def told(self) -> LawBroken | None:
        """How it failed, where it did not when it was tried once more."""
        broken = next(reversed(self._failed.values()), None)
        if broken is None:
            return None
        if self._left < 0:
            return _told_again(broken)
        again = "again: it did otherwise when it was tried once more"
        return _told_again(broken, f"{broken.counter_example}\n{again}")


def _told_again(broken: LawBroken, counter_example: str | None = None) -> LawBroken:
    """The same without what hypothesis and the trial have noted on it."""
    told = broken.counter_example if counter_example is None else counter_example
    return LawBroken(broken.name, broken.law, told)


def broken(law: str, **told: object) -> Never:
    """Tell of a law that does not hold, with what was done, expected and got.

    Raises:
        AssertionError: always.
    """
    raise AssertionError(f"{law}\n{lines_of(told)}".replace("\n", "\n  "))


def name_of(given: object) -> str:
    """What something is called: its name, that of its function, or that of its class."""
    for name in ("name", "__qualname__"):
        found: object = getattr(given, name, None)
        if isinstance(found, str):
            return found
    return type(given).__qualname__
