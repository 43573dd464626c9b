"""The keyword options that several entry points share."""

from collections.abc import Mapping
from typing import Required

from typing_extensions import TypedDict

from stepfold.loop import Limits, RetryPolicy, StopCondition
from stepfold.ports import Clock, Journal, LanguageModel
from stepfold.shell import CancelHandle
from stepfold.values import CallSettings, ToolChoice


class RunOptions(TypedDict, total=False):
    """What belongs to one run.

    `cancel` is a handle by which the run can be ended from beside it. `journal` is where to
    write down what happens, for `replay`. `clock` is where the time of events comes from.
    `run_id` names the run and `seed` decides the jitter of retries; both are new by default.
    """

    cancel: CancelHandle | None
    journal: Journal | None
    clock: Clock | None
    run_id: str | None
    seed: int | None


class GenerateOptions(RunOptions, total=False):
    """What `generate_text` and `stream_text` take beside tools, output and deps: see `Agent`."""

    model: Required[str | LanguageModel]
    instructions: str
    stop_when: StopCondition | None
    limits: Limits | None
    settings: CallSettings
    tool_choice: ToolChoice
    retry: RetryPolicy | None
    provider_options: Mapping[str, object] | None
    concurrency: int | None
    allow_system_messages: bool
