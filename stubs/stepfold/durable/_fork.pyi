from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from stepfold.agent import Agent
from stepfold.durable._sealed import AnySeal
from stepfold.loop import LoopState, Program
from stepfold.ports import JournalStore
from stepfold.values import Message

async def fork(
    agent: Agent[object, object] | Program,
    store: JournalStore,
    run_id: str,
    new: str,
    /,
    *,
    at: int,
    messages: Sequence[Message] | None = None,
    say: str | Sequence[Message] = (),
    seal: AnySeal | None = None,
) -> LoopState: ...
def fork_recording(
    agent: Agent[object, object] | Program,
    path: str | PathLike[str],
    new: str,
    /,
    *,
    at: int,
    messages: Sequence[Message] | None = None,
    say: str | Sequence[Message] = (),
    seal: AnySeal | None = None,
) -> Path: ...
