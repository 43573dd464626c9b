from collections.abc import Mapping, Sequence
from typing_extensions import TypedDict
from stepfold.loop import RetryPolicy
from stepfold.ports import Clock
from stepfold.shell._observing import Observer

class ModelCallOptions(TypedDict, total=False):
    retry: RetryPolicy | None
    headers: Mapping[str, str] | None
    provider_options: Mapping[str, object] | None
    observers: Sequence[Observer]
    clock: Clock | None
    run_id: str | None
    seed: int | None
