"""Annotations of classes and functions, resolved, and type variables put in place."""

import typing
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar, get_args, get_origin

from stepfold.schema._faults import shortened
from stepfold.values._errors import UsageError

TypeVariables: TypeAlias = Mapping[object, object]


def hints_of(owner: type[object] | Callable[..., object], *, where: str) -> dict[str, object]:
    """Resolve the annotations of a class or function, `Annotated` kept.

    Raises:
        UsageError: when a name in them cannot be resolved.
    """
    try:
        return _hints(owner, None)
    except NameError as error:
        # A class that is defined in a function and refers to itself is not found in its module.
        name: object = getattr(owner, "__name__", None)
        if isinstance(name, str) and error.name == name:
            try:
                return _hints(owner, {name: owner})
            except Exception as second:  # noqa: BLE001 - resolving runs the user's expressions
                raise _unresolved(second, where) from second
        raise _unresolved(error, where) from error
    except Exception as error:  # noqa: BLE001 - resolving runs the user's expressions
        raise _unresolved(error, where) from error


def _hints(owner: Callable[..., object], local: dict[str, object] | None) -> dict[str, object]:
    return dict(typing.get_type_hints(owner, localns=local, include_extras=True))


def _unresolved(error: Exception, where: str) -> UsageError:
    text = shortened(f"{type(error).__name__}: {error}")
    return UsageError(
        f"{where}: expected annotations that can be resolved, got {text}; define or import the "
        "type at module level, and not under TYPE_CHECKING"
    )


def variables_of(cls: type[object], arguments: tuple[object, ...]) -> TypeVariables:
    """What each type variable of a generic class and of its bases stands for."""
    parameters: object = getattr(cls, "__parameters__", ())
    own = dict(zip(parameters, arguments, strict=False)) if isinstance(parameters, tuple) else {}
    found: dict[object, object] = dict(own)
    bases: object = getattr(cls, "__orig_bases__", ())
    for base in bases if isinstance(bases, tuple) else ():
        origin = get_origin(base)
        if isinstance(origin, type):
            inner = tuple(found.get(argument, argument) for argument in get_args(base))
            found.update(
                (variable, value)
                for variable, value in variables_of(origin, inner).items()
                if variable not in found
            )
    return found


def stands_for(variable: TypeVar, variables: TypeVariables) -> object:
    """What a type variable stands for here: its argument, default, bound, or anything."""
    if variable in variables and variables[variable] is not variable:
        return variables[variable]
    default: object = getattr(variable, "__default__", None)
    if default is not None and getattr(variable, "has_default", lambda: True)():
        return default
    if variable.__constraints__:
        return typing.Union[variable.__constraints__]  # noqa: UP007 - of a tuple
    return variable.__bound__ if variable.__bound__ is not None else object
