"""The keyword options that several entry points share."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, Required, TypeAlias

from typing_extensions import TypedDict, TypeVar

from stepfold.agent._transforms import StreamTransform
from stepfold.loop import Limits, Named, RetryPolicy, StopCondition, Timeouts
from stepfold.ports import Clock, Download, Journal, LanguageModel
from stepfold.shell import (
    CancelHandle,
    ChildRun,
    Observer,
    PrepareStep,
    RefineToolInput,
    RepairToolCall,
    Steering,
    StopCheck,
    ToolApproval,
    ToolContext,
)
from stepfold.values import CallSettings, Message, Price, SystemMessage, ToolChoice

if TYPE_CHECKING:
    from stepfold.pipeline import StageContext

D = TypeVar("D", default=object)

Prompt: TypeAlias = str | Sequence[Message]
"""Text, or the messages of a conversation."""


class ObserverOptions(TypedDict, total=False):
    """Who is told what happens: `observers`, in their order; see `Observer`.

    Those of an agent are told first, then those of the single run.
    """

    observers: Sequence[Observer]


class RunOptions(ObserverOptions, total=False):
    """What belongs to one run.

    Attributes:
        cancel: A handle by which the run can be ended from beside it.
        steering: A handle by which the run can be spoken to.
        journal: Where to write down what happens, for `replay`.
        clock: Where the time of events comes from; by default the machine.
        run_id: The name of the run; a new one by default.
        seed: What decides the jitter of retries; a new one by default.
        parent: The context of the tool call that begins this run, which then keeps to what is left
            of the tool's grant and is named after the call; what it spends counts in the run that
            called. A stage of a pipeline gives its `StageContext`; who keeps runs, a `ChildRun`.
        runtime_context: Data that goes with the run, and is a part of its state, as JSON: tools,
            policies and the prepare function see it, which may also replace it.
        observers: Who is told what happens, after those of the agent.
    """

    cancel: CancelHandle | None
    steering: Steering | None
    journal: Journal | None
    clock: Clock | None
    run_id: str | None
    seed: int | None
    parent: "ToolContext[object] | StageContext | ChildRun | None"
    runtime_context: Mapping[str, object] | None


class StreamOptions(RunOptions, total=False):
    """What belongs to one streamed run.

    Attributes:
        transform: What its parts go through before they are shown, one function or several in
            their order; what is recorded is the same with it and without. See `StreamTransform`.
    """

    transform: StreamTransform | Sequence[StreamTransform]


class AgentOptions(ObserverOptions, total=False):
    """What holds for every run of an agent, beside its model, tools, output, deps and hooks.

    Tools are given as themselves or by their names.

    Attributes:
        instructions: What the model is told before the prompt; a `SystemMessage` has provider
            options of its own.
        stop_when: When to stop although the model wants to go on.
        limits: Hard budgets of steps, tokens, tool calls and money.
        prices: What tokens cost, by ids of models: needed for `Limits(cost=…)` and `run.cost`.
        settings: Temperature, seed and the like.
        tool_choice: Whether the model may, must or must not call tools, in every step.
        active_tools: The tools that the model is told of: by default all, with `[]` none. A
            `StepPlan` may say otherwise.
        tool_order: The tools that it is told of first, before the others, which are then sorted by
            name. A `StepPlan` may say otherwise.
        retry: When a failed model call is made again.
        fallback_models: Models, or their ids, that are asked in their order if the agent's own
            cannot answer.
        step_models: Models, or their ids, that are asked where a `StepPlan` names them, and not
            otherwise.
        provider_options: What only one provider understands, by provider.
        refine_tool_input: Functions by the names of tools: each gives the arguments that a call
            shall have in place of the model's, before anybody is asked about it and anything runs.
        concurrency: How many tools of one run may be at work at once.
        timeout: How long things may take: in seconds for a whole run, or `Timeouts`.
        allow_system_messages: Whether a history may hold system messages.
        tool_approval_secret: What requests for approval are signed with; then in a history only
            signed ones let a call run.
        download: What fetches files of a prompt that the model's provider does not fetch itself:
            `download_files()` by default; with `None` every address goes to the model as it is.
        resolve_model: What makes the models of ids, when the first run needs them: a
            `ProviderRegistry`, or any other function; by default the built-in providers do.
            Whatever it gives has the id for its name.
        observers: Who is told what happens in every run.
    """

    instructions: str | SystemMessage
    stop_when: StopCondition | None
    limits: Limits | None
    prices: Mapping[str, Price] | None
    settings: CallSettings
    tool_choice: ToolChoice
    active_tools: Sequence[str | Named] | None
    tool_order: Sequence[str | Named] | None
    retry: RetryPolicy | None
    fallback_models: Sequence[str | LanguageModel]
    step_models: Sequence[str | LanguageModel]
    provider_options: Mapping[str, object] | None
    refine_tool_input: Mapping[str, RefineToolInput] | None
    concurrency: int | None
    timeout: float | Timeouts | None
    allow_system_messages: bool
    tool_approval_secret: str | bytes | None
    download: Download | None
    resolve_model: Callable[[str], LanguageModel]


class GenerateOptions(RunOptions, AgentOptions, Generic[D], total=False):
    """What `generate_text` takes beside tools, output and deps; for its hooks, see `Agent`."""

    model: Required[str | LanguageModel]
    prepare_step: PrepareStep[D] | None
    repair_tool_call: RepairToolCall[D] | None
    tool_approval: ToolApproval[D] | None
    stop_check: StopCheck[D] | None


class StreamTextOptions(StreamOptions, GenerateOptions[D], Generic[D], total=False):
    """What `stream_text` takes beside tools, output and deps; for its hooks, see `Agent`."""
