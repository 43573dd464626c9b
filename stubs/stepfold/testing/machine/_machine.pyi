from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, TypeVar
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from hypothesis.strategies import DataObject, SearchStrategy
from typing_extensions import override
from stepfold.loop import Done, LoopState, Program, Transition, open_requests
from stepfold.loop.events import Event, ToolOutcome
from stepfold.testing._simulation import InterventionKind, Trace
from stepfold.testing._world import World
from stepfold.testing.exploration import Law
from stepfold.testing.strategies import tool_outcomes
from stepfold.testing.strategies._worlds import KINDS
from stepfold.values import Message

F = TypeVar("F")
_NO_ARGUMENTS: Final[Mapping[str, Sequence[object]]] = ...
_AFTER: Final = st.integers(0, 4)
_NO_LAWS: Final[Sequence[Law]] = ...

def _typed(decorator: object) -> Callable[[F], F]: ...

class LoopMachine(RuleBasedStateMachine):
    program: ClassVar[Program]
    arguments: ClassVar[Mapping[str, Sequence[object]]] = _NO_ARGUMENTS
    interventions: ClassVar[Sequence[InterventionKind]] = KINDS
    laws: ClassVar[Sequence[Law]] = _NO_LAWS

    def programs(self) -> SearchStrategy[Program]: ...
    def prompts(self, program: Program) -> SearchStrategy[str | tuple[Message, ...]]: ...
    def worlds(self, program: Program) -> SearchStrategy[World]: ...
    def step(self, program: Program, state: LoopState, event: Event) -> Transition: ...
    @property
    def state(self) -> LoopState: ...
    @property
    def possible(self) -> Sequence[InterventionKind]: ...
    @property
    def trace(self) -> Trace: ...
    @_typed(initialize(data=st.data()))
    def begin(self, data: DataObject) -> None: ...
    @_typed(precondition(lambda self: isinstance(self._state.phase, Done)))
    @_typed(rule(data=st.data()))
    def begin_again(self, data: DataObject) -> None: ...
    @override
    def teardown(self) -> None: ...
    @_typed(precondition(lambda self: bool(self._owed)))
    @_typed(rule(count=st.integers(1, 5)))
    def answer(self, count: int) -> None: ...
    @_typed(precondition(lambda self: bool(open_requests(self._state))))
    @_typed(
        rule(
            after=_AFTER,
            pick=st.integers(0, 7),
            approved=st.sampled_from((True, False)),
            outcome=tool_outcomes(),
        )
    )
    def reply(self, after: int, pick: int, *, approved: bool, outcome: ToolOutcome) -> None: ...
    @_typed(precondition(lambda self: bool(self._old)))
    @_typed(rule(after=_AFTER, pick=st.integers(0, 50)))
    def repeat(self, after: int, pick: int) -> None: ...
    @_typed(precondition(lambda self: "crash" in self.interventions))
    @_typed(rule(after=_AFTER))
    def crash(self, after: int) -> None: ...
    @_typed(precondition(lambda self: bool(self.possible)))
    @_typed(rule(after=_AFTER, pick=st.integers(0, 11), partial=st.booleans()))
    def intervene(self, after: int, pick: int, *, partial: bool) -> None: ...
