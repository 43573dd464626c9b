"""What an agent is given, checked when it is given: each error names the argument.

Types say all this too; this is for those who run no type checker, and for data.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Never, TypeVar, get_args

from typing_extensions import TypeIs, is_protocol, is_typeddict

from stepfold.agent._advice import advice_on
from stepfold.agent._answers import Answer, CallAnswer
from stepfold.agent._options import RunOptions
from stepfold.agent._output import Output
from stepfold.loop import (
    Named,
    StopCondition,
    ToolSpec,
    all_of,
    any_of,
    cost_budget,
    deadline,
    has_tool_call,
    is_loop_finished,
    is_step_count,
    negate,
    stalled,
    stop_if,
    text_matches,
    token_budget,
    tool_call_budget,
)
from stepfold.ports import LanguageModel
from stepfold.shell import (
    AnyTool,
    CancelHandle,
    OfferedTool,
    Steering,
    ToolSearch,
    provider_tools_by_name,
)
from stepfold.values import (
    JsonText,
    NamedTool,
    OpenApproval,
    OpenCall,
    Price,
    ProviderTool,
    ToolChoice,
    UsageError,
)

T = TypeVar("T")
D = TypeVar("D")

_FACTORIES = (
    all_of,
    any_of,
    cost_budget,
    deadline,
    has_tool_call,
    is_loop_finished,
    is_step_count,
    negate,
    stalled,
    stop_if,
    text_matches,
    token_budget,
    tool_call_budget,
)
_MAPPING: type = Mapping
_CHOICES = ("auto", "none", "required")


def _shown(given: object) -> str:
    name = getattr(given, "__name__", None)
    if isinstance(given, type) and isinstance(name, str):
        return f"the class {name}"
    return f"{given!r:.200}"


def _is_sequence(given: object) -> TypeIs[Iterable[object]]:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes)


def require_kind(argument: str, given: object, kind: type[T]) -> None:
    """Refuse what is not of this kind.

    Raises:
        UsageError: it is not.
    """
    if not isinstance(given, kind):
        raise UsageError(f"{argument}: expected {_an(kind.__name__)}, got {_shown(given)}")


def _an(name: str) -> str:
    return f"an {name}" if name[0] in "AEIOaeio" else f"a {name}"


def require_model(given: object, argument: str) -> None:
    """Refuse what is neither an id nor a model.

    Raises:
        UsageError: it is neither, or a class where an object is wanted.
    """
    if isinstance(given, str):
        return
    needed = ("provider", "model_id", "generate", "stream")
    if isinstance(given, type) or not all(hasattr(given, name) for name in needed):
        raise UsageError(
            f"{argument}: expected an id such as 'openai/gpt-5.4', or an object with provider, "
            f"model_id, generate and stream, got {_shown(given)}"
        )


def checked_prices(given: object) -> Mapping[str, Price]:
    """Prices, by names of models as they stand in a state: `openai/gpt-5.4`.

    Raises:
        UsageError: this is no mapping from ids of models to prices.
    """
    if not _is_mapping(given):
        raise UsageError(f"prices: expected a mapping from models to prices, got {_shown(given)}")
    prices: dict[str, Price] = {}
    for model, price in given.items():
        if not isinstance(model, str):
            raise UsageError(f"prices: expected ids such as 'openai/gpt-5.4', got {_shown(model)}")
        if not isinstance(price, Price):
            raise UsageError(f"prices[{model!r}]: expected a Price, got {_shown(price)}")
        prices[name_in(model)] = price
    return prices


def _is_mapping(given: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(given, Mapping)


def require_tools(given: object) -> None:
    """Refuse what is no sequence; what is in it is looked at elsewhere.

    Raises:
        UsageError: it is none.
    """
    if not _is_sequence(given):
        raise UsageError(f"tools: expected a sequence of tools, got {_shown(given)}")


def sorted_out(
    tools: Iterable[OfferedTool[D]],
) -> tuple[tuple[AnyTool[D, object], ...], Mapping[str, ToolSpec], Mapping[str, ProviderTool]]:
    """The tools of functions, and by their names the searches and those of the provider.

    Raises:
        UsageError: two of one kind have one name.
    """
    of_functions: list[AnyTool[D, object]] = []
    searches: dict[str, ToolSpec] = {}
    own: list[ProviderTool] = []
    for tool in tools:
        match tool:
            case ProviderTool():
                own.append(tool)
            case ToolSearch(name) if name in searches:
                raise UsageError(f"tools: expected one tool of each name, got two of {name!r}")
            case ToolSearch():
                searches[tool.name] = tool.spec
            case _:
                of_functions.append(tool)
    return tuple(of_functions), searches, provider_tools_by_name(own)


def require_output(given: object) -> None:
    """Refuse what is no output.

    Raises:
        UsageError: it is none; for a type, the text says how to make one of it.
    """
    if isinstance(given, Output):
        return
    advice = f": give object_of({given.__name__})" if isinstance(given, type) else ""
    raise UsageError(f"output: expected text() or object_of(…), got {_shown(given)}{advice}")


def checked_condition(given: StopCondition) -> StopCondition:
    """A stop condition that can be asked.

    Raises:
        UsageError: it cannot: it is no function, async, takes something else, or was to be
            called to make a condition.
    """
    condition: object = given
    if condition in _FACTORIES:
        name = getattr(condition, "__name__", "")
        raise UsageError(
            f"stop_when: expected a condition, got the function {name}: call it, as in {name}(…)"
        )
    if not callable(condition):
        advice = f": is_step_count({given!r})" if type(condition) is int else ""
        raise UsageError(f"stop_when: expected a function of Progress, got {_shown(given)}{advice}")
    if inspect.iscoroutinefunction(condition):
        raise UsageError(
            f"stop_when: expected a plain function, got the async {_shown(given)}: a function that "
            "has to wait is given as stop_check=…, and takes a StopContext"
        )
    try:
        inspect.signature(condition).bind(None)
    except TypeError as error:
        raise UsageError(
            f"stop_when: expected a function of one argument, a Progress, got {_shown(given)}: "
            f"{error}"
        ) from error
    except ValueError:
        pass  # it does not tell what it takes
    return given


def require_choice(given: ToolChoice, tools: Sequence[str]) -> None:
    """Refuse what is no tool choice.

    Raises:
        UsageError: it is none; a tool is chosen by `NamedTool`.
    """
    choice: object = given
    if isinstance(choice, NamedTool) or choice in _CHOICES:
        return
    advice = f": give NamedTool({choice!r})" if choice in tools else ""
    raise UsageError(
        f"tool_choice: expected 'auto', 'none', 'required' or a NamedTool, got {_shown(choice)}"
        f"{advice}"
    )


def tool_names(argument: str, given: Sequence[str | Named] | None) -> tuple[str, ...] | None:
    """Tools, or their names, by name.

    Raises:
        UsageError: they are no sequence, or something in it is neither.
    """
    if given is None:
        return None
    _require_tools(argument, given)
    return tuple(_tool_name(f"{argument}[{index}]", one) for index, one in enumerate(given))


def _require_tools(argument: str, given: object) -> None:
    if not _is_sequence(given):
        raise UsageError(f"{argument}: expected tools or their names, got {_shown(given)}")


def _tool_name(argument: str, given: object) -> str:
    name: object = given if isinstance(given, str) else getattr(given, "name", None)
    if not isinstance(name, str):
        raise UsageError(f"{argument}: expected a tool or its name, got {_shown(given)}")
    return name


def json_object(argument: str, given: Mapping[str, object] | None) -> JsonText | None:
    """A mapping as JSON.

    Raises:
        UsageError: it is no mapping, or something in it has no JSON form.
    """
    if given is None:
        return None
    require_kind(argument, given, _MAPPING)
    try:
        return JsonText.of(given)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{argument}: expected what has a JSON form, got {error}") from error


def require_deps_type(given: object) -> None:
    """Refuse what is no type.

    Raises:
        UsageError: it is a string or an object.
    """
    is_form = type(given).__module__ in {"types", "typing", "typing_extensions"}
    if not isinstance(given, type) and not is_form:
        advice = f": give {type(given).__name__}" if not isinstance(given, str) else ""
        raise UsageError(f"deps_type: expected a type, got {_shown(given)}{advice}")


def require_deps(
    wanted: object, given: object, *, is_given: bool, tools: Iterable[AnyTool[Never, object]]
) -> None:
    """Refuse deps of the wrong type, as far as can be seen, and missing ones.

    Raises:
        UsageError: nothing was given where something is wanted, or another kind of thing.
    """
    if not is_given:
        if wanted is not object:
            raise UsageError(f"deps: expected {_name(wanted)}, got nothing: give deps=…")
        for tool in tools:
            if tool.deps_type is not object and _name(tool.deps_type) != "Any":
                raise UsageError(
                    f"deps: expected {_name(tool.deps_type)}, since the tool {tool.name} takes a "
                    f"ToolContext of it, got nothing: give deps=…"
                )
        return
    if not isinstance(wanted, type) or is_protocol(wanted) or is_typeddict(wanted):
        return
    if get_args(wanted) or isinstance(given, wanted):
        return
    if wanted is float and isinstance(given, int):
        return
    raise UsageError(f"deps: expected {_an(_name(wanted))}, got {_shown(given)}")


def _name(kind: object) -> str:
    name: object = getattr(kind, "__name__", None)
    return name if isinstance(name, str) else str(kind)


_RUN_OPTIONS = tuple(sorted(RunOptions.__annotations__))


def require_known(options: Iterable[str], known: Iterable[str] = _RUN_OPTIONS) -> None:
    """Refuse options that nobody reads.

    Raises:
        UsageError: for the first unknown one; the text lists the known, and says what to do.
    """
    names = sorted(known)
    for option in options:
        if option not in names:
            advice = advice_on(option, names)
            raise UsageError(f"expected options among {', '.join(names)}, got {option!r}{advice}")


def require_answer(given: object) -> None:
    """Refuse what is no answer to a blocked run.

    Raises:
        UsageError: it is none; for a request, the text says how to answer it.
    """
    if isinstance(given, Answer | CallAnswer):
        return
    advice = ""
    if isinstance(given, OpenApproval):
        advice = ": answer it by approve(…) or deny(…)"
    elif isinstance(given, OpenCall):
        advice = ": answer it by tool_output(…) or tool_error(…)"
    raise UsageError(f"answers: expected answers to open requests, got {_shown(given)}{advice}")


def require_options(
    cancel: CancelHandle | None, steering: Steering | None, run_id: str | None, seed: int | None
) -> None:
    """Refuse options of the wrong kind.

    Raises:
        UsageError: one is; the text names it.
    """
    if cancel is not None:
        require_kind("cancel", cancel, CancelHandle)
    if steering is not None:
        require_kind("steering", steering, Steering)
    if run_id is not None:
        require_kind("run_id", run_id, str)
        if not run_id:
            raise UsageError("run_id: expected a name, got an empty string")
    if seed is not None:
        require_kind("seed", seed, int)


def models_in(
    argument: str, given: Sequence[str | LanguageModel]
) -> tuple[str | LanguageModel, ...]:
    """Several models, in their order.

    Raises:
        UsageError: they are no sequence.
    """
    _require_models(argument, given)
    return tuple(given)


def _require_models(argument: str, given: object) -> None:
    if not _is_sequence(given):
        raise UsageError(f"{argument}: expected a sequence of models or ids, got {_shown(given)}")


def names_in(
    model: str | LanguageModel, **others: Sequence[str | LanguageModel]
) -> Mapping[str, tuple[str, ...]]:
    """The names of an agent's `model` and of its other models, by what they were given as.

    Raises:
        UsageError: one is neither an id nor a model, or two have one name.
    """
    names: dict[str, tuple[str, ...]] = {"model": (name_in(model),)}
    for argument, models in others.items():
        for place, given in enumerate(models):
            name = name_in(given, f"{argument}[{place}]")
            if any(name in before for before in names.values()):
                raise UsageError(
                    f"{argument}[{place}]: expected a model that is not given before, got "
                    f"{name!r} again"
                )
            names[argument] = (*names.get(argument, ()), name)
    return names


def name_in(given: str | LanguageModel, argument: str = "model") -> str:
    """The name of a model in a state; both `provider/model` and `provider:model` are ids.

    Raises:
        UsageError: it is neither an id nor a model.
    """
    require_model(given, argument)
    if not isinstance(given, str):
        return f"{given.provider}/{given.model_id}"
    stripped = given.strip()
    places = [place for place in (stripped.find("/"), stripped.find(":")) if place >= 0]
    if not places or not 0 < min(places) < len(stripped) - 1:
        raise UsageError(f"{argument}: expected an id such as 'openai/gpt-5.4', got {given!r}")
    return f"{stripped[: min(places)]}/{stripped[min(places) + 1 :]}"
