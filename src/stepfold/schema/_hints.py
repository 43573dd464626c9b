"""Annotations of classes and functions, resolved, and type variables put in place."""

import sys
import types
import typing
from collections.abc import Mapping
from typing import TypeAlias, TypeVar, get_args, get_origin

from typing_extensions import NoDefault

from stepfold.schema._faults import shortened
from stepfold.schema._kinds import tuple_in
from stepfold.values._errors import UsageError

TypeVariables: TypeAlias = Mapping[object, object]


def hints_of(owner: object, *, where: str) -> dict[str, object]:
    """Resolve the annotations of a class or function, `Annotated` kept.

    Raises:
        UsageError: when a name in them cannot be resolved.
    """
    try:
        return _hints(owner, None)
    except NameError:
        # A class that is defined in a function and refers to itself is not found in its module.
        try:
            return _hints(owner, {str(getattr(owner, "__name__", owner)): owner})
        except Exception as error:
            raise _unresolved(error, where) from error
    except Exception as error:
        raise _unresolved(error, where) from error


def meaning_of(alias: object, *, where: str) -> object:
    """What a `type` statement or a `TypeAliasType` stands for, resolved in its module.

    Raises:
        UsageError: when a name in it cannot be resolved.
    """
    module = sys.modules.get(str(getattr(alias, "__module__", "")))
    try:
        value: object = getattr(alias, "__value__")  # noqa: B009 - evaluated when it is read
        holder = types.SimpleNamespace(__annotations__={"value": value})
        names = {} if module is None else vars(module)
        meant: object = typing.get_type_hints(holder, names, include_extras=True)["value"]
    except Exception as error:
        raise _unresolved(error, where) from error
    return meant


def _hints(owner: object, local: dict[str, object] | None) -> dict[str, object]:
    return dict(typing.get_type_hints(owner, localns=local, include_extras=True))


def _unresolved(error: Exception, where: str) -> UsageError:
    text = shortened(f"{type(error).__name__}: {error}")
    return UsageError(
        f"{where}: expected annotations that can be resolved, got {text}; define or import the "
        "type at module level, and not under TYPE_CHECKING"
    )


def variables_of(cls: type[object], arguments: tuple[object, ...]) -> TypeVariables:
    """What each type variable of a generic class and of its bases stands for."""
    found = dict(zip(tuple_in(cls, "__parameters__"), arguments, strict=False))
    for base in tuple_in(cls, "__orig_bases__"):
        origin: object = get_origin(base)
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
    default: object = getattr(variable, "__default__", NoDefault)
    if default is not NoDefault:
        return default
    constraints = tuple_in(variable, "__constraints__")
    if constraints:
        return typing.Union[constraints]  # noqa: UP007 - of a tuple
    bound: object = getattr(variable, "__bound__", None)
    return object if bound is None else bound
