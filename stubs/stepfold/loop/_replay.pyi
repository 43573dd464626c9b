from collections.abc import Iterable
from typing import final
from attrs import frozen
from stepfold.loop._granted import Granted
from stepfold.loop._program import RULES, Program
from stepfold.loop._state import LoopState, Transition
from stepfold.loop.events import Event
from stepfold.values import EMPTY_OBJECT, Instant, JsonText, Message, Outcome

@final
@frozen(order=False)
class JournalHeader:
    run: str
    seed: int
    at: Instant
    messages: tuple[Message, ...]
    fingerprint: str
    rules: int = RULES
    commands: tuple[str, ...] = ()
    runtime_context: JsonText = EMPTY_OBJECT
    granted: Granted | None = None

@final
@frozen(order=False)
class JournalEntry:
    event: Event
    commands: tuple[str, ...] = ()

@final
@frozen(order=False)
class Diverged:
    position: int
    expected: str
    got: str

def command_ids(transition: Transition) -> tuple[str, ...]: ...
def replay(
    program: Program,
    header: JournalHeader,
    entries: Iterable[JournalEntry],
    *,
    allow_other_fingerprint: bool = False,
) -> Outcome[LoopState, Diverged]: ...
def unlike(program: Program, fingerprint: str, rules: int) -> Diverged | None: ...
def replay_from(
    program: Program, state: LoopState, entries: Iterable[JournalEntry], *, position: int = 0
) -> Outcome[LoopState, Diverged]: ...
