from stepfold.loop._program import Program
from stepfold.loop._state import LoopState, Transition
from stepfold.loop.events import Event

def step(program: Program, state: LoopState, event: Event) -> Transition: ...
