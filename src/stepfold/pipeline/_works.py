"""`Work`: one function of the user's, and how what it returns is read.

A function is looked at once, when a stage is built. What its annotations say is believed; where
there are none (a lambda, a partial), what it returns is looked at when it runs.
"""

import enum
import functools
import inspect
import typing
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Final, cast, final

from attrs import field, frozen
from returns.future import FutureResult
from returns.result import Failure, Result, Success

from stepfold.pipeline._results import Accepted, Improve
from stepfold.values import UsageError

AnyFunction = Callable[[object], object]
"""A function of one argument, its types checked where it was taken."""


@final
class Reading(enum.Enum):
    """How what a function returns is read."""

    VALUE = "value"  # as it is
    OUTCOME = "outcome"  # a Success or a Failure
    EITHER = "either"  # a Success or a Failure where it is one, otherwise as it is
    IGNORED = "ignored"  # not at all: what was given goes on
    CHOICE = "choice"  # the number of the arm to take; False is 0, True is 1


@final
@frozen(order=False)
class Work:
    """A function with its name; `may_wait` is false where it surely returns no awaitable.

    One that `is_plain` was taken where only a plain function makes sense, so it may run again.
    """

    name: str
    function: AnyFunction
    reading: Reading
    may_wait: bool = False
    wants_context: bool = field(default=False, kw_only=True)
    is_plain: bool = field(default=False, kw_only=True)
    takes: object = field(default=None, kw_only=True)
    gives: object = field(default=None, kw_only=True)


@final
class Unknown(enum.Enum):
    """Where no annotation says what a function returns or takes."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


def require_function(where: str, function: object) -> None:
    """Refuse what cannot be called.

    Raises:
        UsageError: it cannot be.
    """
    if not callable(function):
        raise UsageError(f"{where}: expected a function of one argument, got {function!r:.200}")


def name_of(function: object, otherwise: str) -> str:
    """What a function is called; lambdas and the like have no name of their own."""
    while isinstance(function, functools.partial):
        function = function.func
    name: object = getattr(function, "__name__", None) or getattr(function, "name", None)
    if not isinstance(name, str):
        name = type(function).__name__
    return otherwise if name == "<lambda>" else name


def is_async(function: object) -> bool:
    """Whether calling it makes a coroutine."""
    inner = _innermost(function)
    return inspect.iscoroutinefunction(inner)


def returned_by(function: object) -> object:
    """The annotation of what a call gives, awaited; `UNKNOWN` where there is none that resolves."""
    hints = _hints(function)
    found = hints.get("return", UNKNOWN)
    origin: object = typing.get_origin(found)
    if origin is Awaitable or origin is Coroutine:
        arguments: tuple[object, ...] = typing.get_args(found)
        return arguments[-1]
    return UNKNOWN if found is Awaitable or found is Coroutine else found


def taken_by(function: object) -> object:
    """The annotation of the first parameter; `UNKNOWN` where there is none that resolves."""
    if isinstance(function, type):
        return UNKNOWN
    hints = {name: hint for name, hint in _hints(function).items() if name != "return"}
    if not callable(function):
        return UNKNOWN
    try:
        first = next(iter(inspect.signature(function).parameters), None)
    except (TypeError, ValueError):  # some of those written in C have no signature
        return UNKNOWN
    return UNKNOWN if first is None else hints.get(first, UNKNOWN)


def _innermost(function: object) -> object:
    """The code behind partials, decorations and callable objects; classes are left as they are."""
    while isinstance(function, functools.partial):
        function = function.func
    if callable(function):
        function = inspect.unwrap(function)
    if isinstance(function, type) or inspect.isroutine(function):
        return function
    called: object = getattr(type(function), "__call__", function)  # noqa: B004 - to look at it
    return called


def _hints(function: object) -> dict[str, object]:
    inner = _innermost(function)
    if isinstance(inner, type):
        return {"return": inner}
    try:
        return dict(typing.get_type_hints(inner, include_extras=True))
    except Exception:  # noqa: BLE001 - names that resolve nowhere: what it returns is looked at
        return {}


def members_of(form: object) -> tuple[object, ...]:
    """The types that a type is a union of."""
    arguments: tuple[object, ...] = typing.get_args(form)
    origin: object = typing.get_origin(form)
    if origin is typing.Annotated:
        return members_of(arguments[0])
    if origin is typing.Union or isinstance(form, _UNION):
        return tuple(member for argument in arguments for member in members_of(argument))
    return (form,)


def classes_in(form: object) -> tuple[object, ...]:
    """The classes that a type is a union of, without their arguments."""
    return tuple(typing.get_origin(member) or member for member in members_of(form))


_UNION = type(int | str)


def gives_outcome(where: str, form: object) -> Reading:
    """How to read what a function returns, by its annotation.

    Raises:
        UsageError: it is a `Result`, whose two sides no type checker can tell apart.
    """
    if form is UNKNOWN or form is typing.Any or isinstance(form, typing.TypeVar):
        return Reading.EITHER
    members = classes_in(form)
    for refused in (Result, FutureResult):
        if refused in members:
            raise UsageError(
                f"{where}: expected a function that returns Outcome[…] (Success[…] | Failure[…]), "
                f"got one that returns {refused.__name__}: its two sides would not be told apart; "
                "annotate it as Outcome, or wrap it by stepfold.pipeline.interop"
            )
    outcomes = [member is Success or member is Failure for member in members]
    if all(outcomes):
        return Reading.OUTCOME
    return Reading.EITHER if any(outcomes) else Reading.VALUE


def work_of(where: str, function: AnyFunction, reading: Reading | None, name: str) -> Work:
    """Look at a function that may be sync or async, and return anything or an outcome.

    `reading` is how to read what it returns where that is known; by default its annotation says.
    A function whose value is taken as it is, or which gives an outcome by contract, is plain.

    Raises:
        UsageError: it is no function, or returns a `Result`.
    """
    require_function(where, function)
    gives = returned_by(function)
    found = gives_outcome(where, gives)
    is_plain = reading is Reading.VALUE or reading is Reading.OUTCOME
    may_wait = not is_plain and (is_async(function) or _may_wait(function))
    return Work(
        name_of(function, name),
        function,
        found if reading is None else reading,
        may_wait,
        is_plain=is_plain,
        takes=taken_by(function),
        gives=gives,
    )


def _may_wait(function: object) -> bool:
    """Whether a function that is no coroutine function may return an awaitable all the same."""
    found = _hints(function).get("return", UNKNOWN)
    if isinstance(function, type) or isinstance(found, type):
        return isinstance(found, type) and hasattr(found, "__await__")
    if found is UNKNOWN or found is typing.Any or isinstance(found, typing.TypeVar):
        return True
    return any(
        not isinstance(member, type) or hasattr(member, "__await__") for member in classes_in(found)
    )


def plain(where: str, function: AnyFunction, name: str) -> AnyFunction:
    """Refuse a function that is async where only a plain one makes sense.

    Raises:
        UsageError: it is async, returns a `Result`, or is no function.
    """
    require_function(where, function)
    if is_async(function):
        raise UsageError(
            f"{where}: expected a plain function, got the async {name_of(function, name)}: make it "
            "a stage, and use then(stage(…))"
        )
    gives_outcome(where, returned_by(function))
    return function


# --- functions that combinators make of the user's: values, so that stages can be compared --


@final
@frozen(order=False)
class Guarded:
    """`guard`: what holds goes on, what does not becomes a failure."""

    holds: AnyFunction
    otherwise: AnyFunction

    def __call__(self, given: object) -> object:
        """Give an outcome."""
        return Success(given) if self.holds(given) else Failure(self.otherwise(given))


@final
@frozen(order=False)
class Narrowed:
    """`narrow`: what is of a class goes on, what is not becomes a failure."""

    kind: type[object]
    otherwise: AnyFunction

    def __call__(self, given: object) -> object:
        """Give an outcome."""
        return Success(given) if isinstance(given, self.kind) else Failure(self.otherwise(given))


@final
@frozen(order=False)
class Tested:
    """A predicate, as a choice between two arms: 0 and 1."""

    holds: AnyFunction

    def __call__(self, given: object) -> object:
        """Give the number of an arm."""
        return 1 if self.holds(given) else 0


@final
@frozen(order=False)
class FirstHolding:
    """`when`: the number of the first predicate that holds, or that of the last arm."""

    predicates: tuple[AnyFunction, ...]

    def __call__(self, given: object) -> object:
        """Give the number of an arm."""
        for place, holds in enumerate(self.predicates):
            if holds(given):
                return place
        return len(self.predicates)


@final
@frozen(order=False)
class Spread:
    """`map_each`: read the iterable, where code of the user's may run, once and to its end."""

    def __call__(self, given: object) -> object:
        """Give a tuple."""
        if not isinstance(given, Iterable):
            raise TypeError(f"map_each: expected an iterable, got {type(given).__name__}")
        return tuple(cast("Iterable[object]", given))


SPREAD = Spread()


@final
@frozen(order=False)
class VerdictRead:
    """`improve_until_accepted`: refuse what is no verdict, whatever its type promised."""

    def __call__(self, given: object) -> object:
        """Give the verdict."""
        if not isinstance(given, Accepted | Improve):
            raise TypeError(f"expected Accepted or Improve, got {type(given).__name__}")
        return cast("object", given)


READ_VERDICT = Work("verdict", VerdictRead(), Reading.VALUE, is_plain=True)
