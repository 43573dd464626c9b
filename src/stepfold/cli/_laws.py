"""`stepfold laws`: the laws, tried on what somebody has added."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast, final, get_origin, get_type_hints

from attrs import frozen

from stepfold.agent import StreamControl, StreamTransform
from stepfold.cli._named import kind_of, object_named
from stepfold.cli._screen import Screen
from stepfold.loop import Condition, Progress, StopCondition
from stepfold.pipeline import Stage
from stepfold.ports import LanguageModel, Middleware
from stepfold.shell import AnyTool
from stepfold.testing.conformance import (
    check_middleware,
    check_stage,
    check_stop_condition,
    check_tool,
    check_transform,
)
from stepfold.values import UsageError

_KINDS: Final = ("tool", "stage", "condition", "middleware", "transform")
_BY_PARAMETER: Final[Mapping[object, str]] = {
    Progress: "condition",
    LanguageModel: "middleware",
    StreamControl: "transform",
}
_WHAT_HOLDS: Final = {
    "tool": "it tells what it does, and binds its arguments alike each time",
    "stage": "it is equal to itself with identity() before or after",
    "condition": "it is pure, and its answers are named",
    "middleware": "what it makes of a lawful model is a lawful model",
    "transform": "it shows a text alike wherever it was cut, and loses no end",
}


@final
@frozen(order=False, kw_only=True)
class Trying:
    """How the laws are tried: what is asked for beside the targets."""

    kind: str | None = None
    execute: bool = False
    window: bool = False
    world: bool = False
    given: str | None = None


def try_laws(targets: Sequence[str], screen: Screen, trying: Trying) -> int:
    """Try the laws on each target, say which hold, and give the exit code.

    Raises:
        UsageError: a name leads nowhere, or to nothing that has laws here; or a stage is to be run
            and there is nothing to run it on.
        OutputClosed: nobody reads what is written any more.
    """
    kind = trying.kind
    if kind is not None and kind not in _KINDS:
        msg = f"--kind: expected one of {', '.join(_KINDS)}, got {kind!r}"
        raise UsageError(msg)
    found = [(target, _named(target)) for target in targets]
    kinds = [kind or _kind_of(target, thing) for target, thing in found]
    inputs = _inputs(trying, kinds)
    code = 0
    for place, ((target, thing), is_a) in enumerate(zip(found, kinds, strict=True), 1):
        screen.busy(f"{place} of {len(found)}: the laws of a {is_a}, tried on {target}")
        try:
            _check(is_a, thing, trying, inputs)
        except AssertionError as error:
            screen.line(("broken", "bold red"), f"  {target}")
            screen.line(f"  {error}", hang=2)
            code = 1
        else:
            screen.line(("held", "bold green"), f"    {target}: {_held(is_a, trying)}")
        finally:
            screen.idle()
    return code


def _inputs(trying: Trying, kinds: Sequence[str]) -> Sequence[object]:
    """What stages are run on, if they are to be run."""
    if trying.given is not None and not trying.execute:
        msg = "--given: expected --execute beside it, since nothing is run without"
        raise UsageError(msg)
    if not trying.execute or "stage" not in kinds:
        return ()
    if trying.given is None:
        msg = (
            "--execute: expected --given MODULE:NAME, what the stages are run on (a value, or a "
            "list of values), got nothing"
        )
        raise UsageError(msg)
    given = object_named(trying.given, option="--given", example="my_stages:examples")
    return cast("list[object]", given) if isinstance(given, list) else (given,)


def _held(kind: str, trying: Trying) -> str:
    held = _WHAT_HOLDS[kind]
    if kind in {"tool", "stage"}:
        return f"{held}; {'it was run' if trying.execute else 'it was not run (--execute)'}"
    if kind == "condition" and not trying.window:
        return f"{held}; what stops a run stops every longer one"
    return held


def _check(kind: str, thing: object, trying: Trying, inputs: Sequence[object]) -> None:
    match kind:
        case "tool":
            check_tool(cast("AnyTool[object, object]", thing), execute=trying.execute)
        case "stage":
            stage = cast("Stage[object, object, object]", thing)
            check_stage(stage, given=inputs, is_pure=not trying.world)
        case "condition":
            check_stop_condition(cast("StopCondition", thing), is_monotone=not trying.window)
        case "middleware":
            check_middleware(cast("Middleware", thing))
        case _:
            check_transform(cast("StreamTransform", thing))


def _named(target: str) -> object:
    return object_named(target, option="laws", example="my_conditions:too_long")


def _kind_of(target: str, thing: object) -> str:
    """What a thing is: by its class, else by the annotation of its first parameter."""
    if isinstance(thing, AnyTool):
        return "tool"
    if isinstance(thing, Stage):
        return "stage"
    if isinstance(thing, Condition):
        return "condition"
    if callable(thing):
        first = _first_annotation(cast("Callable[[object], object]", thing))
        for annotation, kind in _BY_PARAMETER.items():
            if annotation in {first, get_origin(first)}:
                return kind
    msg = (
        f"laws {target}: expected a tool, stage, stop condition, middleware or transform, got "
        f"{kind_of(thing)}: annotate its parameter (Progress, LanguageModel or StreamControl), or "
        "say --kind"
    )
    raise UsageError(msg)


def _first_annotation(thing: Callable[[object], object]) -> object:
    plain: object = thing
    if inspect.isclass(thing):
        plain = thing.__init__
    elif not inspect.isroutine(thing):
        plain = type(thing).__call__
    try:
        hints: dict[str, object] = get_type_hints(plain)
        parameters = [*inspect.signature(thing).parameters]
    except (TypeError, ValueError, NameError):
        return None  # what cannot be read has to be said
    return hints.get(parameters[0]) if parameters else None
