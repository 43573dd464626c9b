from collections.abc import Sequence
from stepfold.loop import LoopState
from stepfold.shell import Observation

def observations_are_the_run(observations: Sequence[Observation], state: LoopState) -> None: ...
