"""Objects by name: tools and models of the user's own, written `module:name`."""

import functools
import sys
import traceback
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, cast, get_args, get_type_hints

from typing_extensions import TypeIs

from stepfold.agent import Agent
from stepfold.cli._screen import Screen
from stepfold.cli._setup import Setup
from stepfold.loop import is_step_count
from stepfold.ports import LanguageModel
from stepfold.providers import PROVIDERS, resolve_model
from stepfold.providers.local import local_model
from stepfold.shell import AnyTool
from stepfold.values import CallSettings, UsageError

_LOCAL: Final = "local/"


async def opened_agent(setup: Setup, screen: Screen, stack: AsyncExitStack) -> Agent:
    """Make the agent that the options describe; its model is closed with the stack.

    Raises:
        UsageError: a name leads nowhere, or to something else; the text says what to do.
    """
    tools = tuple(tool for reference in setup.tools for tool in tools_named(reference))
    model = await _opened_model(setup.model, screen, stack)
    return Agent(
        model=model,
        tools=tools,
        instructions=setup.instructions,
        stop_when=is_step_count(setup.max_steps),
        settings=CallSettings(
            temperature=setup.temperature,
            seed=setup.seed,
            max_output_tokens=setup.max_tokens,
        ),
    )


# --- models -----------------------------------------------------------------------------------


async def _opened_model(name: str, screen: Screen, stack: AsyncExitStack) -> LanguageModel:
    name = name.strip()
    provider, colon, rest = name.partition(":")
    if colon and "/" not in provider:
        if provider not in {entry.name for entry in PROVIDERS}:
            return _model_in_module(name)
        name = f"{provider}/{rest}"  # both forms are ids
    if name.startswith(_LOCAL):
        running = local_model(name.removeprefix(_LOCAL), on_progress=screen.busy)
        model = await stack.enter_async_context(running)
        screen.idle()
        return model
    model = resolve_model(name)
    if isinstance(model, AbstractAsyncContextManager):
        await stack.enter_async_context(model)
    return model


def _model_in_module(reference: str) -> LanguageModel:
    found = object_named(reference, option="--model", example="my_models:model")
    for member in ("generate", "stream"):
        if isinstance(found, type) or not callable(getattr(found, member, None)):
            raise UsageError(
                f"--model {reference}: expected a language model, got {kind_of(found)}, which has "
                f"no method {member!r}: name an object with generate, stream, provider and model_id"
            )
    return cast("LanguageModel", found)  # as far as what has a name can be checked


# --- tools ------------------------------------------------------------------------------------


def tools_named(reference: str) -> Sequence[AnyTool[object, object]]:
    """The tools that `module:name` stands for: a tool, or a list or tuple of them.

    Several names of one module are separated by commas.

    Raises:
        UsageError: there is no such thing, it is no tool, or it needs deps.
    """
    module, colon, names = reference.partition(":")
    found: list[AnyTool[object, object]] = []
    for name in names.split(",") if colon else [""]:
        one = f"{module}:{name.strip()}" if colon else module
        given = object_named(one, option="--tools", example="my_tools:weather")
        several = isinstance(given, list | tuple)
        members = cast("Sequence[object]", given) if several else (given,)
        found += [_checked(one, member) for member in members]
    return found


def _checked(reference: str, given: object) -> AnyTool[object, object]:
    if not _is_tool(given):
        raise UsageError(
            f"--tools {reference}: expected a tool, or a list of tools, got {kind_of(given)}: "
            "make a tool of a function by the decorator @sf.tool"
        )
    wanted = deps_wanted(given)
    if wanted is not None:
        raise UsageError(
            f"--tools {reference}: the tool {given.name} needs deps of the type {wanted}, and the "
            "command has none: name a tool that brings its own, such as one that makes them and "
            "calls this one"
        )
    return given


def _is_tool(given: object) -> TypeIs[AnyTool[object, object]]:
    return isinstance(given, AnyTool)


def deps_wanted(tool: AnyTool[object, object]) -> str | None:
    """The type of deps without which the tool cannot run, if there is one."""
    if not tool.takes_context:
        return None
    function: object = tool.function
    while isinstance(function, functools.partial):
        function = function.func
    hints: list[object] = list(get_type_hints(function).values())
    wanted: object = next(iter(get_args(hints[0])), object) if hints else object
    if wanted is object or wanted is type(None) or not isinstance(wanted, type):
        return None
    return wanted.__name__


# --- by name ----------------------------------------------------------------------------------


def object_named(reference: str, *, option: str, example: str) -> object:
    """Import `module:name`; the current folder is looked into first.

    Raises:
        UsageError: the module is not there or fails, or holds no such name.
    """
    module_name, colon, name = reference.partition(":")
    if not module_name or (colon and not name):
        raise UsageError(f"{option}: expected module:name, such as {example}, got {reference!r}")
    module = _imported(module_name, option)
    if not colon:
        raise UsageError(
            f"{option} {reference}: expected module:name, such as {example}; {_held(module)}"
        )
    found: object = module
    for step in name.split("."):
        try:
            found = getattr(found, step)
        except AttributeError:
            raise UsageError(
                f"{option} {reference}: the module {module_name} has no {name!r}; {_held(module)}"
            ) from None
    return found


def _imported(name: str, option: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise UsageError(
                f"{option}: there is no module {error.name!r} in {here} or among what is "
                "installed: go to its folder, or install it"
            ) from None
        raise UsageError(f"{option}: {_failure(name, error)}") from error
    except Exception as error:
        raise UsageError(f"{option}: {_failure(name, error)}") from error


def _failure(name: str, error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"importing {name} failed: {type(error).__name__}: {error} "
        f"({where.filename}, line {where.lineno})"
    )


def _held(module: ModuleType) -> str:
    tools = [name for name, value in vars(module).items() if _is_tool(value)]
    return f"it holds the tools {', '.join(tools)}" if tools else "it holds no tools"


def kind_of(given: object) -> str:
    """What an object is, in the words of an error."""
    if isinstance(given, type):
        return f"the class {given.__name__}"
    if callable(given) and hasattr(given, "__name__"):
        return f"the function {given.__name__}"
    return f"an object of the type {type(given).__name__}"
