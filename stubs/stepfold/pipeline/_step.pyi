from stepfold.pipeline._state import PipelineState, Transition
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.events import Event
from stepfold.values import Instant

def begin(
    wiring: Wiring, given: object, *, run: str, seed: int, at: Instant, tells: bool = True
) -> Transition: ...
def step(
    wiring: Wiring, state: PipelineState, event: Event, *, tells: bool = True
) -> Transition: ...
