"""The keyword options that several entry points share."""

from collections.abc import Mapping, Sequence
from typing import Generic, Required

from typing_extensions import TypedDict, TypeVar

from stepfold.agent._transforms import StreamTransform
from stepfold.loop import Limits, Named, RetryPolicy, StopCondition, Timeouts
from stepfold.pipeline import StageContext
from stepfold.ports import Clock, Download, Journal, LanguageModel
from stepfold.shell import (
    CancelHandle,
    Observer,
    PrepareStep,
    RefineToolInput,
    RepairToolCall,
    Steering,
    StopCheck,
    ToolApproval,
    ToolContext,
)
from stepfold.values import CallSettings, Price, ToolChoice

D = TypeVar("D", default=object)


class ObserverOptions(TypedDict, total=False):
    """Who is told what happens: `observers`, in their order; see `Observer`.

    Those of an agent are told first, then those of the single run.
    """

    observers: Sequence[Observer]


class RunOptions(ObserverOptions, total=False):
    """What belongs to one run.

    `cancel` is a handle by which the run can be ended from beside it. `journal` is where to
    write down what happens, for `replay`. `clock` is where the time of events comes from.
    `run_id` names the run and `seed` decides the jitter of retries; both are new by default.
    `parent` is the context of the tool call that begins this run, which then keeps to what is left
    of the tool's grant and is named after the call; what it spends counts in the run that called;
    a stage of a pipeline gives its `StageContext`.
    `steering` is a handle by which the run can be spoken to.
    `runtime_context` is data that goes with the run: tools, policies and the prepare function see
    it, which may also replace it. It becomes a part of the state, as JSON.
    """

    cancel: CancelHandle | None
    steering: Steering | None
    journal: Journal | None
    clock: Clock | None
    run_id: str | None
    seed: int | None
    parent: ToolContext[object] | StageContext | None
    runtime_context: Mapping[str, object] | None


class StreamOptions(RunOptions, total=False):
    """What belongs to one streamed run.

    `transform` is what its parts go through before they are shown, one function or several in
    their order; what is recorded is the same with it and without. See `StreamTransform`.
    """

    transform: StreamTransform | Sequence[StreamTransform]


class AgentOptions(ObserverOptions, total=False):
    """What holds for every run of an agent, beside its model, tools, output, deps and hooks.

    `instructions` are what the model is told before the prompt. `stop_when` says when to stop
    although the model wants to go on; `limits` are hard budgets. `prices` says what tokens cost,
    by ids of models: they are needed for `Limits(cost=…)` and for `run.cost`. `settings` are
    temperature, seed and the like. `tool_choice` says whether the model may, must or must not
    call tools, in every step. `active_tools` are those that the model is told of, by default all
    and with `[]` none; `tool_order` lists those that it is told of first, before the others, which
    are then sorted by name. Both take tools or their names, and a `StepPlan` may say otherwise.
    `retry` says when a failed model call is made again.
    `provider_options` is what only one provider understands, by provider. `refine_tool_input` are
    functions by the names of tools: each gives the arguments that a call shall have in place of
    the model's, before anybody is asked about it and anything runs. `concurrency` is how
    many tools of one run may be at work at once. `timeout` is how long things may take: in
    seconds for a whole run, or `Timeouts`. `allow_system_messages` says whether a history may
    hold system messages. With a `tool_approval_secret` requests for approval are signed, and in a
    history only signed ones let a call run. `download` fetches files of a prompt that the model's
    provider does not fetch itself: `download_files()` by default; with `None` every address goes
    to the model as it is.

    `fallback_models` are models, or their ids, that are asked in their order if the agent's own
    cannot answer.
    """

    instructions: str
    stop_when: StopCondition | None
    limits: Limits | None
    prices: Mapping[str, Price] | None
    settings: CallSettings
    tool_choice: ToolChoice
    active_tools: Sequence[str | Named] | None
    tool_order: Sequence[str | Named] | None
    retry: RetryPolicy | None
    fallback_models: Sequence[str | LanguageModel]
    provider_options: Mapping[str, object] | None
    refine_tool_input: Mapping[str, RefineToolInput] | None
    concurrency: int | None
    timeout: float | Timeouts | None
    allow_system_messages: bool
    tool_approval_secret: str | bytes | None
    download: Download | None


class GenerateOptions(RunOptions, AgentOptions, Generic[D], total=False):
    """What `generate_text` takes beside tools, output and deps; for its hooks, see `Agent`."""

    model: Required[str | LanguageModel]
    prepare_step: PrepareStep[D] | None
    repair_tool_call: RepairToolCall[D] | None
    tool_approval: ToolApproval[D] | None
    stop_check: StopCheck[D] | None


class StreamTextOptions(StreamOptions, GenerateOptions[D], Generic[D], total=False):
    """What `stream_text` takes beside tools, output and deps; for its hooks, see `Agent`."""
