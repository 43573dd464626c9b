from collections.abc import Mapping
from typing import Required
from typing_extensions import TypedDict
from stepfold.loop import Limits, RetryPolicy, StopCondition, Timeouts
from stepfold.ports import Clock, Journal, LanguageModel
from stepfold.shell import CancelHandle
from stepfold.values import CallSettings, ToolChoice

class RunOptions(TypedDict, total=False):
    cancel: CancelHandle | None
    journal: Journal | None
    clock: Clock | None
    run_id: str | None
    seed: int | None

class AgentOptions(TypedDict, total=False):
    instructions: str
    stop_when: StopCondition | None
    limits: Limits | None
    settings: CallSettings
    tool_choice: ToolChoice
    retry: RetryPolicy | None
    provider_options: Mapping[str, object] | None
    concurrency: int | None
    timeout: float | Timeouts | None
    allow_system_messages: bool

class GenerateOptions(RunOptions, AgentOptions, total=False):
    model: Required[str | LanguageModel]
