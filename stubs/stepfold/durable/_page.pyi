from collections.abc import Sequence
from stepfold.durable._recording import Recording
from stepfold.loop import LoopState

def page_of(recording: Recording, states: Sequence[LoopState] = ()) -> str: ...
