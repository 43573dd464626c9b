"""What the arguments of combinators have to be, beside what their types say."""

import math

from stepfold.schema import form_of
from stepfold.values import UsageError


def require_stage(where: str, given: object, kind: type[object]) -> None:
    """Refuse what is no stage.

    Raises:
        UsageError: it is none; the text says what to do with a function.
    """
    if isinstance(given, kind):
        return
    told = f"{given!r:.200}"
    if callable(given):
        name = getattr(given, "__name__", type(given).__name__)
        told = f"the function {name}: make it one by stage(…), pure(…) or fallible(…)"
    raise UsageError(f"{where}: expected a Stage, got {told}")


def require_made(where: str, given: object, kind: type[object], expected: str) -> None:
    """Refuse what was not made by the function that makes such things.

    Raises:
        UsageError: it was not; `expected` is what is told to be.
    """
    if not isinstance(given, kind):
        raise UsageError(f"{where}: expected {expected}, got {given!r:.200}")


def require_bound(where: str, given: object) -> None:
    """Refuse what is no number of times.

    Raises:
        UsageError: it is no whole number, or less than 1.
    """
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise UsageError(f"{where}: expected a whole number of at least 1, got {given!r:.100}")


def require_seconds(where: str, given: object) -> None:
    """Refuse what is no time.

    Raises:
        UsageError: it is no finite number, or less than 0.
    """
    number = given if isinstance(given, int | float) and not isinstance(given, bool) else -1
    if math.isfinite(number) and number >= 0:
        return
    raise UsageError(f"{where}: expected a finite number of seconds, got {given!r:.100}")


def require_form(where: str, form: object) -> None:
    """Refuse a type that has no JSON form.

    Raises:
        UsageError: it has none, so that nobody could give a value of it.
    """
    form_of(form, where=where)


def require_name(where: str, given: object) -> None:
    """Refuse what is no name.

    Raises:
        UsageError: it is no text, is empty, or has a slash, which parts names.
    """
    if not isinstance(given, str) or not given or "/" in given:
        raise UsageError(f"{where}: expected a name without slashes, got {given!r:.100}")
