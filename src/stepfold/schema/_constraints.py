"""What `Annotated[...]` may say about a type: a description, and bounds that JSON Schema has.

Besides our own two values, anything with the attributes of `annotated_types` (`ge`, `max_length`,
…) is read: those of annotated-types itself, pydantic's `Field`, msgspec's `Meta`. Other metadata
belongs to other libraries and is ignored, as PEP 593 asks.
"""

import re
from collections.abc import Iterable
from typing import final

from attrs import frozen
from typing_extensions import TypeVar

from stepfold.schema._kinds import is_array, is_tuple
from stepfold.values._errors import UsageError

T = TypeVar("T")


@final
@frozen(order=False)
class Description:
    """Words for the model about a parameter, a field or an item."""

    text: str


@final
@frozen(order=False, kw_only=True)
class Constraint:
    """Bounds on a number, on the length of text, array or mapping, or a pattern of text."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None


def describe(text: str) -> Description:
    """Make words for the model: `Annotated[str, describe("A city, in English")]`."""
    return Description(text)


def bounded(
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    multiple_of: float | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
) -> Constraint:
    """Make bounds of a number or a length: `Annotated[int, bounded(ge=1, le=10)]`.

    Lengths count code points of text, items of an array, properties of a mapping.

    Raises:
        UsageError: when nothing is bounded, `multiple_of` is not positive, or a length negative.
    """
    bounds = (ge, gt, le, lt, multiple_of, min_length, max_length)
    if all(bound is None for bound in bounds):
        msg = "bounded(): expected at least one bound, got none; give ge=, max_length= or the like"
        raise UsageError(msg)
    if multiple_of is not None and multiple_of <= 0:
        msg = f"bounded(): expected multiple_of above 0, got {multiple_of}; give a positive number"
        raise UsageError(msg)
    if any(length is not None and length < 0 for length in (min_length, max_length)):
        msg = "bounded(): expected lengths of 0 or more, got a negative one; give a count"
        raise UsageError(msg)
    return Constraint(
        ge=ge,
        gt=gt,
        le=le,
        lt=lt,
        multiple_of=multiple_of,
        min_length=min_length,
        max_length=max_length,
    )


def pattern(expression: str) -> Constraint:
    r"""Make a bound on text: a regular expression is found in it, as in `pattern("^[a-z]+$")`.

    It is searched for, not matched from the start, as JSON Schema has it; write `^` and `$`. Keep
    to what Python and ECMA 262 share, and to what is matched in linear time: the loop itself
    runs it on text from a model.

    Raises:
        UsageError: when Python cannot compile the expression.
    """
    try:
        re.compile(expression)
    except re.error as error:
        msg = f"pattern(): expected a regular expression, got {expression!r} ({error}); mend it"
        raise UsageError(msg) from error
    return Constraint(pattern=expression)


def metadata_in(items: Iterable[object]) -> tuple[tuple[Constraint, ...], str]:
    """Read the constraints and the (last) description out of `Annotated` metadata.

    Raises:
        UsageError: for a bound that is no number, and for checks by code, which no schema can say.
    """
    constraints: list[Constraint] = []
    description = ""
    for item in items:
        if isinstance(item, Constraint):
            constraints.append(item)
        elif isinstance(item, Description):
            description = item.text
        else:
            # `documentation` is that of PEP 727's Doc, `description` pydantic's and msgspec's.
            words = _of_type(item, str, "description", "documentation")
            description = words if words is not None else description
            nested: object = getattr(item, "metadata", None)
            if is_array(nested) or is_tuple(nested):
                found, words = metadata_in(nested)
                constraints.extend(found)
                description = words or description
            if _is_check(item):
                raise UsageError(
                    f"{item!r}: expected bounds that JSON Schema has, got code that checks; check "
                    "the value in your own code, or in a validator of a class"
                )
            constraint = _read(item)
            if constraint != Constraint():
                constraints.append(constraint)
    return tuple(constraints), description


def _is_check(item: object) -> bool:
    """Whether this is code that annotated-types or pydantic would run to check a value."""
    module = type(item).__module__
    return module.startswith(("annotated_types", "pydantic")) and hasattr(item, "func")


def _read(item: object) -> Constraint:
    expression: object = getattr(item, "pattern", None)
    return Constraint(
        ge=_number(item, "ge"),
        gt=_number(item, "gt"),
        le=_number(item, "le"),
        lt=_number(item, "lt"),
        multiple_of=_number(item, "multiple_of"),
        min_length=_of_type(item, int, "min_length"),
        max_length=_of_type(item, int, "max_length"),
        pattern=_of_type(item, str, "pattern") or _of_type(expression, str, "pattern"),
    )


def _number(item: object, name: str) -> float | None:
    bound: object = getattr(item, name, None)
    if bound is None or callable(bound):
        return None
    if isinstance(bound, int | float):
        return bound
    msg = (
        f"{type(item).__name__}({name}={bound!r}): expected a number as the bound, got "
        f"{type(bound).__name__}; JSON Schema bounds numbers only, check the value in your code"
    )
    raise UsageError(msg)


def _of_type(item: object, kind: type[T], *names: str) -> T | None:
    for name in names:
        value: object = getattr(item, name, None)
        if isinstance(value, kind):
            return value
    return None
