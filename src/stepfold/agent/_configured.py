"""What an agent was given, checked once: its program, and what the program's names stand for."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Generic, Never, cast, final

from typing_extensions import TypeVar

from stepfold.agent._checks import (
    models_in,
    names_in,
    require_deps,
    require_deps_type,
    require_known,
    require_output,
    require_tools,
    sorted_out,
)
from stepfold.agent._hooks import hooks_of, specs_under
from stepfold.agent._options import AgentOptions, RunOptions
from stepfold.agent._output import Output
from stepfold.agent._program import (
    AGENT_OPTIONS,
    checked_concurrency,
    checked_download,
    checked_observers,
    checked_resolver,
    program_of,
    with_output_tool,
)
from stepfold.agent._results import require_result_tool
from stepfold.loop import Program
from stepfold.ports import LanguageModel, model_name
from stepfold.shell import (
    AnyTool,
    OfferedTool,
    PrepareStep,
    RepairToolCall,
    Runtime,
    StopCheck,
    SystemClock,
    ToolApproval,
    is_described,
    tools_by_name,
    wrap_language_model,
)
from stepfold.values import UsageError

Deps_contra = TypeVar("Deps_contra", contravariant=True, default=object)

NO_DEPS = object()


@final
class Configured(Generic[Deps_contra]):
    """The arguments of an agent; see `Agent`.

    Raises:
        UsageError: one of them is wrong; the text names it.
    """

    def __init__(
        self,
        model: str | LanguageModel,
        deps_type: object,
        tools: Sequence[OfferedTool[Deps_contra]],
        output: Output[object],
        prepare_step: PrepareStep[Deps_contra] | None,
        repair_tool_call: RepairToolCall[Deps_contra] | None,
        tool_approval: ToolApproval[Deps_contra] | None,
        stop_check: StopCheck[Deps_contra] | None,
        options: AgentOptions,
    ) -> None:
        fallbacks = models_in("fallback_models", options.get("fallback_models", ()))
        of_steps = models_in("step_models", options.get("step_models", ()))
        names = names_in(model, fallback_models=fallbacks, step_models=of_steps)
        require_deps_type(deps_type)
        require_known(options, AGENT_OPTIONS)
        require_output(output)
        require_tools(tools)
        every = (name for given in names.values() for name in given)
        models = (model, *fallbacks, *of_steps)
        self._given_models = tuple(zip(models, every, strict=True))
        self._resolve = checked_resolver(options)
        self._deps_type = deps_type
        self._tools, searches, own = sorted_out(tools)
        self.concurrency: int | None = checked_concurrency(options.get("concurrency"))
        self._observers = checked_observers(options.get("observers", ()))
        self._download = checked_download(options)
        self.table: Mapping[str, AnyTool[Deps_contra, object]] = tools_by_name(self._tools)
        table = self.table
        require_result_tool(output, table)
        if tool_approval is not None:
            _require_no_inner_calls(self._tools)
        self._hooks = hooks_of(
            prepare_step,
            repair_tool_call,
            tool_approval,
            stop_check,
            options.get("refine_tool_input"),
            table,
        )
        for twice in table.keys() & searches:
            raise UsageError(f"tools: expected one tool of each name, got two of {twice!r}")
        specs = {**{name: tool.spec for name, tool in table.items()}, **searches}
        given = with_output_tool(specs_under(self._hooks, specs), output.tool)
        described = any(map(is_described, self._tools))
        self._decode = output.decode
        self.program: Program = program_of(
            names, given, own, output.spec, self._hooks, options, prepares=described
        )

    @cached_property
    def _models(self) -> tuple[LanguageModel, ...]:
        return tuple(_named(given, name, self._resolve) for given, name in self._given_models)

    def runtime(self, deps: object, options: RunOptions) -> Runtime[Deps_contra]:
        """What the names in the program stand for in one run.

        Raises:
            UsageError: deps are missing or wrong, or the model's id or key is not known.
        """
        is_given = deps is not NO_DEPS
        require_deps(self._deps_type, deps, is_given=is_given, tools=self._tools)
        given = cast("Deps_contra", deps)  # checked above, as far as a type can be at run time
        clock = options.get("clock")
        return Runtime(
            models=self._models,
            tools=self._tools,
            deps=given,
            clock=SystemClock() if clock is None else clock,
            journal=options.get("journal"),
            concurrency=self.concurrency,
            hooks=self._hooks,
            observers=self._observers + checked_observers(options.get("observers", ())),
            bind_output=self._decode,
            download=self._download,
        )


def _require_no_inner_calls(tools: Sequence[AnyTool[Never, object]]) -> None:
    """Refuse a policy beside a tool whose calls of others it would not be asked about."""
    for tool in tools:
        if tool.options.calls:
            raise UsageError(
                f"tool_approval: expected none beside {tool.name}, which calls other tools by "
                "itself (calls=[…]): a policy is not asked about those"
            )


def _named(
    given: str | LanguageModel, name: str, resolve: Callable[[str], LanguageModel]
) -> LanguageModel:
    """A model under the name that states and journals have for it."""
    if not isinstance(given, str):
        return given
    model = resolve(given)
    if model_name(model) == name:
        return model
    provider, _, model_id = name.partition("/")
    return wrap_language_model(model, provider=provider, model_id=model_id)
