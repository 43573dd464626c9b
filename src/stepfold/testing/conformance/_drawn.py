"""Checks on drawn values: hypothesis finds what breaks a law, and makes it small."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Never, TypeVar

from stepfold.values import UsageError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")


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


def hold(check: Callable[[T], None], drawn: "SearchStrategy[T]", *, examples: int) -> None:
    """Try a check on drawn values, always the same ones.

    Raises:
        AssertionError: it fails on some, and the text is that of the smallest; or it fails on some
            and not when it is tried again.
    """
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis.errors import Flaky

    failed: list[str] = []

    def held(value: T) -> None:
        try:
            check(value)
        except AssertionError as error:
            failed.append(str(error))
            raise

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
    except AssertionError as error:
        raise AssertionError(str(error)) from None
    except Flaky:
        told = f"{failed[0]}\n  again:    it did otherwise when it was tried once more"
        raise AssertionError(told) from None


def broken(law: str, **told: object) -> Never:
    """Tell of a law that does not hold, with what was done, expected and got.

    Raises:
        AssertionError: always.
    """
    width = max(map(len, told)) + 1
    lines = (f"  {name + ':':<{width}} {said}" for name, said in told.items())
    raise AssertionError("\n".join((law, *lines)))


def name_of(given: object) -> str:
    """What something is called: its name, that of its function, or that of its class."""
    for name in ("name", "__qualname__"):
        found: object = getattr(given, name, None)
        if isinstance(found, str):
            return found
    return type(given).__qualname__
