"""What a value is a case of: classes, and single values such as those of a `Literal`."""

import typing
from enum import Enum
from typing import Final, TypeAlias, final

from attrs import frozen
from typing_extensions import is_typeddict

from stepfold.values import UsageError

_UNION: Final = type(int | str)


@final
@frozen(order=False)
class Single:
    """A single value that is a case; `True` and 1 are two."""

    kind: type[object]
    value: object


Kind: TypeAlias = type[object] | Single


def kinds_of(form: object) -> tuple[Kind, ...]:
    """The classes and single values that a type is made of.

    Raises:
        UsageError: a value cannot be told to be of this type by looking at it alone.
    """
    if form is None:
        return (type(None),)
    origin: object = typing.get_origin(form)
    arguments: tuple[object, ...] = typing.get_args(form)
    if origin is typing.Annotated:
        return kinds_of(arguments[0])
    if origin is typing.Union or isinstance(form, _UNION):
        return tuple(kind for argument in arguments for kind in kinds_of(argument))
    if origin is typing.Literal:
        return tuple(Single(type(value), value) for value in arguments)
    meant: object = getattr(form, "__value__", None)
    if meant is not None:
        return kinds_of(meant)
    if isinstance(form, type) and origin is None:
        if _cannot_be_asked(form):
            raise UsageError(
                f"case: expected a class that isinstance can tell, got {form.__name__}: mark the "
                "protocol as runtime_checkable, or use a class"
            )
        return (form,)
    raise UsageError(
        f"case: expected a class, a union, a Literal or None, got {form!r:.200}: a value cannot "
        "be told to be one by looking at it"
    )


def _cannot_be_asked(form: type[object]) -> bool:
    """Whether `isinstance` refuses a class: a TypedDict, or a protocol that is not for run time."""
    is_protocol: object = getattr(form, "_is_protocol", False)
    is_runtime: object = getattr(form, "_is_runtime_protocol", False)
    return is_typeddict(form) or (bool(is_protocol) and not is_runtime)


def fits(kind: Kind, value: object) -> bool:
    """Whether a value is of a kind."""
    if isinstance(kind, Single):
        return type(value) is kind.kind and value == kind.value
    return isinstance(value, kind)


def shown_kind(kind: Kind) -> str:
    """A kind as people write it."""
    if isinstance(kind, Single):
        value = kind.value
        return str(value) if isinstance(value, Enum) else repr(value)
    return "None" if kind is type(None) else kind.__name__


def require_reachable(
    before: tuple[tuple[Kind, ...], ...], after: tuple[tuple[Kind, ...], ...]
) -> None:
    """Refuse a case that another one takes before it.

    Raises:
        UsageError: a kind could never be chosen.
    """
    earlier = [kind for kinds in before for kind in kinds]
    for kind in (kind for kinds in after for kind in kinds):
        for taken in earlier:
            if _covers(taken, kind):
                raise UsageError(
                    f"case: {shown_kind(kind)} can never be chosen, since {shown_kind(taken)} is "
                    "before it and takes all of it; put it first, or leave it out"
                )


def _covers(taken: Kind, kind: Kind) -> bool:
    if isinstance(kind, Single):
        return fits(taken, kind.value)
    return not isinstance(taken, Single) and issubclass(kind, taken)


@final
@frozen(order=False)
class FirstFitting:
    """The number of the first case that a value is of."""

    cases: tuple[tuple[Kind, ...], ...]

    def __call__(self, given: object) -> object:
        """Give the number of an arm."""
        for place, kinds in enumerate(self.cases):
            for kind in kinds:
                if fits(kind, given):
                    return place
        known = ", ".join(shown_kind(kind) for kinds in self.cases for kind in kinds)
        raise TypeError(f"branch: expected a value of {known}, got a {type(given).__name__}")
