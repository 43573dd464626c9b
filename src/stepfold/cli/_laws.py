"""`stepfold laws`: the laws, tried on what somebody has added."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypedDict, cast, final, get_origin, get_type_hints

from attrs import frozen

from stepfold.agent import StreamControl, StreamTransform
from stepfold.cli._named import deps_wanted, kind_of, object_named
from stepfold.cli._screen import Screen
from stepfold.loop import Condition, Progress, StopCondition
from stepfold.pipeline import Stage
from stepfold.ports import LanguageModel, Middleware
from stepfold.shell import AnyTool
from stepfold.testing.conformance import (
    LawStatus,
    LawVerdict,
    check_middleware,
    check_stage,
    check_stop_condition,
    check_tool,
    check_transform,
    verdicts_of,
)
from stepfold.values import UsageError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_KINDS: Final = ("tool", "stage", "condition", "middleware", "transform")
_BY_PARAMETER: Final[Mapping[object, str]] = {
    Progress: "condition",
    LanguageModel: "middleware",
    StreamControl: "transform",
}
_TITLES: Final = {
    "tool": "a tool",
    "stage": "a stage",
    "condition": "a stop condition",
    "middleware": "a middleware",
    "transform": "a stream transform",
}
# What the checks say to a programmer, as it is said on the command line.
_OPTIONS: Final = {
    'backends=["asyncio", "trio"]': "--trio",
    "execute=True": "--execute",
    "given=[…]": "--given MODULE:NAME",
    "given=…": "--given MODULE:NAME",
    "is_kept=True": "--kept",
    "is_lossless=True": "--lossless",
    "is_monotone=False": "--window",
    "is_pure=False": "--world",
    "is_transparent=True": "--transparent",
}
_STYLES: Final[Mapping[LawStatus, str]] = {
    "held": "bold green",
    "broken": "bold red",
    "not tried": "dim",
}
_INDENT: Final = 13


class _Budget(TypedDict, total=False):
    examples: int


@final
@frozen(order=False, kw_only=True)
class Trying:
    """How the laws are tried: what is asked for beside the targets."""

    kind: str | None = None
    execute: bool = False
    given: str | None = None
    examples: int | None = None
    trio: bool = False
    kept: bool = False
    world: bool = False
    window: bool = False
    transparent: bool = False
    lossless: bool = False


def try_laws(targets: Sequence[str], screen: Screen, trying: Trying) -> int:
    """Try the laws on each target, say of each whether it holds, and give the exit code.

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
    _require_sense(trying, kinds)
    checks = [
        (target, is_a, _check(is_a, thing, trying))
        for (target, thing), is_a in zip(found, kinds, strict=True)
    ]
    counts: Counter[LawStatus] = Counter()
    for place, (target, is_a, check) in enumerate(checks, 1):
        doing = f"{place} of {len(checks)}: trying the laws of {_TITLES[is_a]} on {target}"
        try:
            verdicts = _verdicts(check, screen, doing)
        except UsageError as error:
            raise UsageError(f"laws {target}: {_in_options(str(error))}") from error
        screen.line((target, "bold"), f", {_TITLES[is_a]}")
        for verdict in verdicts:
            _show(verdict, screen)
            counts[verdict.status] += 1
    told = ", ".join(f"{counts[status]} {status}" for status in _STYLES if counts[status])
    screen.line(f"{sum(counts.values())} laws: {told}")
    return 1 if counts["broken"] else 0


def _require_sense(trying: Trying, kinds: Sequence[str]) -> None:
    """Refuse inputs that nothing would be run on.

    Raises:
        UsageError: there are such.
    """
    if trying.given is not None and not trying.execute:
        msg = "--given: expected --execute beside it, since nothing is run without"
        raise UsageError(msg)
    if trying.given is not None and "stage" not in kinds:
        msg = f"--given: expected a stage to be run on it, got {' and '.join(kinds)}"
        raise UsageError(msg)


def _verdicts(check: Callable[[], None], screen: Screen, doing: str) -> Sequence[LawVerdict]:
    screen.busy(doing)
    try:
        return verdicts_of(
            check, on_progress=lambda count: screen.busy(f"{doing} ({count} so far)")
        )
    finally:
        screen.idle()


def _show(verdict: LawVerdict, screen: Screen) -> None:
    status = verdict.status
    why = f" ({_in_options(verdict.told)})" if status == "not tried" else ""
    screen.item((status, _STYLES[status]), f"{verdict.law.says}{why}", indent=_INDENT)
    if status == "broken":
        for line in verdict.told.split("\n"):
            told = _in_options(line) if line.startswith("remedy:") else line
            screen.item("", told, indent=_INDENT)


def _in_options(told: str) -> str:
    """What a check says, in the words of the command line."""
    for said, option in _OPTIONS.items():
        told = told.replace(said, option)
    return told


def _check(kind: str, thing: object, trying: Trying) -> Callable[[], None]:
    """The check of a thing, with all that was asked for.

    Raises:
        UsageError: an option leads nowhere, or does not go with the others.
    """
    budget: _Budget = {} if trying.examples is None else {"examples": trying.examples}
    backends = ("asyncio", "trio") if trying.trio else ("asyncio",)
    match kind:
        case "tool":
            tool = cast("AnyTool[object, object]", thing)
            if trying.execute and isinstance(thing, AnyTool):
                _require_no_deps(tool)
            return partial(check_tool, tool, execute=trying.execute, backends=backends, **budget)
        case "stage":
            return partial(
                check_stage,
                cast("Stage[object, object, object]", thing),
                given=_inputs(trying),
                execute=trying.execute,
                is_pure=not trying.world,
                is_kept=trying.kept,
                backends=backends,
                **budget,
            )
        case "condition":
            condition = cast("StopCondition", thing)
            return partial(check_stop_condition, condition, is_monotone=not trying.window, **budget)
        case "middleware":
            layer = cast("Middleware", thing)
            return partial(check_middleware, layer, is_transparent=trying.transparent, **budget)
        case _:
            transform = cast("StreamTransform", thing)
            return partial(check_transform, transform, is_lossless=trying.lossless, **budget)


def _require_no_deps(tool: AnyTool[object, object]) -> None:
    """Refuse to run a tool that could only fail.

    Raises:
        UsageError: it needs deps.
    """
    wanted = deps_wanted(tool)
    if wanted is not None:
        msg = (
            f"--execute: the tool {tool.name} needs deps of the type {wanted}, and the command has "
            f"none: check it in a test, check_tool({tool.name}, deps=…, execute=True)"
        )
        raise UsageError(msg)


def _inputs(trying: Trying) -> "Sequence[object] | SearchStrategy[object]":
    """What stages are run on besides what is drawn."""
    if trying.given is None:
        return ()
    given = object_named(trying.given, option="--given", example="my_stages:examples")
    if isinstance(given, list):
        return cast("list[object]", given)
    return cast("SearchStrategy[object]", given) if _is_strategy(given) else (given,)


def _is_strategy(given: object) -> bool:
    if find_spec("hypothesis") is None:
        return False
    from hypothesis.strategies import SearchStrategy

    return isinstance(given, SearchStrategy)


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
