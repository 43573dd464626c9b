"""Refuse what cannot stand for a port, before anything is asked of it."""

from stepfold.values import UsageError


def require_members(what: str, given: object, *names: str) -> None:
    """Refuse an object that lacks one of these members, and a class in the place of an object.

    Raises:
        UsageError: it is such a one; the text says what was expected, and what came.
    """
    if isinstance(given, type) or not all(hasattr(given, name) for name in names):
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        raise UsageError(f"{what}: expected an object with {listed}, got {given!r:.200}")
