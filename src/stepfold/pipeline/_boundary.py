"""What goes over the boundaries of stages, as JSON: needed where a pipeline outlives its process.

What a stage gives is written down by the type in its annotation. Some of it need not be written,
since it follows from what the stage was given: a tap, a guard and the like give that again.
"""

import enum
import typing
from collections.abc import Iterator
from typing import cast, final

from attrs import field, frozen
from returns.result import Failure, Success

from stepfold.pipeline._kept import AsksAgent
from stepfold.pipeline._nodes import (
    Awaited,
    Chain,
    Choice,
    Given,
    Leaf,
    Node,
    Repeatable,
    Retry,
    Timed,
    Titled,
)
from stepfold.pipeline._wiring import Instruction, Op, Wiring
from stepfold.pipeline._works import (
    UNKNOWN,
    Guarded,
    Narrowed,
    Reading,
    Spread,
    VerdictRead,
    members_of,
    returned_by,
)
from stepfold.schema import Form, bind, form_of, unbind
from stepfold.values import IllegalEvent, Outcome, UsageError


@final
class Kept(enum.Enum):
    """How what a stage gave is found again."""

    WRITTEN = "written"  # it is written down
    GIVEN = "given"  # it is what the stage was given
    ITEMS = "items"  # it is that, as a tuple
    AGENT = "agent"  # it is in the run of an agent


@final
@frozen(order=False, eq=False)
class Boundary:
    """How the value of a stage, and its error, are written down; `None` is: there is none."""

    title: str
    kept: Kept
    value: Form | None
    error: Form | None
    agent: AsksAgent | None = None


@final
@frozen(order=False, eq=False)
class Boundaries:
    """Those of a whole pipeline: of what it is given, and of each instruction."""

    given: Form
    of: tuple[Boundary | None, ...] = field(repr=False)

    def at(self, place: int) -> Boundary:
        """That of the instruction at a place.

        Raises:
            IllegalEvent: nothing is written of what it gives.
        """
        boundary = self.of[place]
        if boundary is None:
            raise IllegalEvent(f"nothing is written of what instruction {place} gives")
        return boundary


def boundaries_of(node: Node, wiring: Wiring) -> Boundaries:
    """Read all boundaries from the annotations.

    Raises:
        UsageError: one says nothing, or a type that has no JSON form; the text names the stage.
    """
    given = given_to(node)
    if given is UNKNOWN:
        raise UsageError(
            "a pipeline with a journal needs to know the type of what it is given: begin it with "
            "given(…), or annotate the parameter of its first function"
        )
    return Boundaries(
        form_of(given, where="what the pipeline is given"),
        tuple(_boundary(instruction) for instruction in wiring.code),
    )


def given_to(node: Node) -> object:
    """The type of what a pipeline is given; `UNKNOWN` where no annotation says so."""
    while not isinstance(node, Given | Leaf | Awaited):
        within = node.inner()
        if not within or isinstance(node, Choice):
            return UNKNOWN
        node = within[0]
    if isinstance(node, Given):
        return node.form
    work = node.ask if isinstance(node, Awaited) else node.work
    return UNKNOWN if work.takes is None else work.takes


def value_of(node: Node) -> object:
    """The type of what a pipeline gives; `UNKNOWN` where no annotation says so."""
    while not isinstance(node, Given | Leaf | Awaited):
        if isinstance(node, Chain) and node.links:
            node = node.links[-1]
        elif isinstance(node, Timed | Retry | Titled | Repeatable):
            node = node.body
        else:
            return UNKNOWN
    if isinstance(node, Leaf):
        values = _sides(node.work.gives)[0]
        is_known = node.work.gives is not None and UNKNOWN not in values and values
        return typing.Union[values] if is_known else UNKNOWN  # noqa: UP007 - of a tuple
    return UNKNOWN if isinstance(node, Awaited) and node.keeps else node.form


def shown_type(form: object) -> str:
    """A type as people write it."""
    name: object = getattr(form, "__name__", None)
    is_plain = isinstance(name, str) and not typing.get_args(form)
    return str(name) if is_plain else str(form).replace("typing.", "")


def _boundary(instruction: Instruction) -> Boundary | None:
    work, title = instruction.work, instruction.title
    if instruction.asked is not None:
        form = form_of(instruction.asked.form, where=f"await_input {title}")
        return Boundary(title, Kept.WRITTEN, form, None)
    if work is None:
        return None
    function = work.function
    if work.reading is Reading.IGNORED or isinstance(function, VerdictRead):
        return Boundary(title, Kept.GIVEN, None, None)
    if isinstance(function, Spread):
        return Boundary(title, Kept.ITEMS, None, None)
    if isinstance(function, Guarded | Narrowed):
        error = _form(f"the failure of {title}", (returned_by(function.otherwise),))
        return Boundary(title, Kept.GIVEN, None, error)
    asks: object = function
    if isinstance(asks, AsksAgent):
        return Boundary(title, Kept.AGENT, None, None, asks)
    if instruction.op is Op.CHOOSE:
        return Boundary(title, Kept.WRITTEN, form_of(int, where=title), None)
    values, errors = _sides(work.gives)
    return Boundary(
        title,
        Kept.WRITTEN,
        _form(f"the value of {title}", values) if values or not errors else None,
        _form(f"the failure of {title}", errors) if errors else None,
    )


def _sides(gives: object) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """The types of the values and of the errors in what a function returns."""
    values: list[object] = []
    errors: list[object] = []
    for member in members_of(gives):
        origin: object = typing.get_origin(member)
        arguments: tuple[object, ...] = typing.get_args(member)
        side = errors if origin is Failure else values
        side.append(arguments[0] if origin is Success or origin is Failure else member)
    return tuple(values), tuple(errors)


def _form(where: str, types: tuple[object, ...]) -> Form:
    """The form of a union.

    Raises:
        UsageError: a type is not known, or has no JSON form.
    """
    for one in types:
        if one is UNKNOWN or one is typing.Any or isinstance(one, typing.TypeVar):
            raise UsageError(
                f"{where}: expected an annotation, since a pipeline with a journal writes down "
                "what its stages give: use a function whose return type is annotated"
            )
    return form_of(typing.Union[types], where=where)  # noqa: UP007 - of a tuple


def written(boundary: Boundary, form: Form | None, value: object) -> object:
    """A value as plain JSON.

    Raises:
        UsageError: it is of another type than the annotation says, or is not expected at all.
    """
    if form is None:
        raise UsageError(f"{boundary.title}: gave {value!r:.100}, which its annotation excludes")
    try:
        return unbind(value, form)
    except UsageError as error:
        raise UsageError(f"{boundary.title}: {error}") from None


def taken_by_stage(instruction: Instruction) -> Form:
    """How what a stage is given is written down.

    Raises:
        UsageError: no annotation says so.
    """
    takes = None if instruction.work is None else instruction.work.takes
    if takes is None or takes is UNKNOWN:
        raise UsageError(
            f"{instruction.title}: expected to know the type of what it is given: annotate the "
            "parameter of its function"
        )
    return form_of(takes, where=f"what {instruction.title} is given")


def read(form: Form | None, plain: object) -> Outcome[object, str]:
    """A value from plain JSON, or what is wrong with it."""
    if form is None:
        return Failure("nothing of the kind can have been written")
    match bind(form, plain):
        case Success(value):
            return Success(value)
        case Failure(faults):
            told = "; ".join(f"at {fault.pointer or '/'}: {fault.message}" for fault in faults)
            return Failure(told)


def given_again(boundary: Boundary, given: object) -> object:
    """What a stage gave that was not written down."""
    if boundary.kept is Kept.ITEMS:
        return tuple(cast("Iterator[object]", given))
    return given
