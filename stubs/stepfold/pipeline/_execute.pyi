from collections.abc import Mapping, Sequence
from typing_extensions import TypedDict
from stepfold.loop import Limits
from stepfold.pipeline.notes import Tell
from stepfold.ports import Clock
from stepfold.values import Price

class PipelineOptions(TypedDict, total=False):
    observers: Sequence[Tell]
    limits: Limits | None
    prices: Mapping[str, Price] | None
    clock: Clock | None
    run_id: str | None
    seed: int | None
