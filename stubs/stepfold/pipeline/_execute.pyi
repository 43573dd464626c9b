from collections.abc import Sequence
from typing_extensions import TypedDict
from stepfold.pipeline._driver import Tell
from stepfold.ports import Clock

class PipelineOptions(TypedDict, total=False):
    observers: Sequence[Tell]
    clock: Clock | None
    run_id: str | None
    seed: int | None
