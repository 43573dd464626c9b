from collections.abc import Sequence
from typing_extensions import TypedDict
from stepfold.durable._hand_over import HandOver
from stepfold.durable._sealed import AnySeal
from stepfold.ports import Clock
from stepfold.shell import CancelHandle, Observer, Steering

class DurableOptions(TypedDict, total=False):
    clock: Clock
    observers: Sequence[Observer]
    cancel: CancelHandle
    steering: Steering
    owner: str
    lease_seconds: float
    seal: AnySeal
    allow_other_program: bool
    hand_over: HandOver
