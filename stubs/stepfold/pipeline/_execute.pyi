from collections.abc import Mapping, Sequence
from typing_extensions import TypedDict
from stepfold.loop import Limits
from stepfold.pipeline.notes import Tell
from stepfold.ports import Clock
from stepfold.shell import CancelHandle
from stepfold.values import Price

class StartOptions(TypedDict, total=False):
    observers: Sequence[Tell]
    parts: bool
    limits: Limits | None
    prices: Mapping[str, Price] | None
    clock: Clock | None
    seed: int | None
    cancel: CancelHandle | None
    timeout: float | None

class PipelineOptions(StartOptions, total=False):
    run_id: str | None
