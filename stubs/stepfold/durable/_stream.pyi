from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar, overload
from typing_extensions import Unpack
from stepfold.agent import Agent, RunStream
from stepfold.durable._working import DurableOptions
from stepfold.ports import JournalStore
from stepfold.values import Message

D = TypeVar("D")
Out = TypeVar("Out")

@overload
def stream(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    **options: Unpack[DurableOptions],
) -> AbstractAsyncContextManager[RunStream[Out]]: ...
@overload
def stream(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    deps: D,
    **options: Unpack[DurableOptions],
) -> AbstractAsyncContextManager[RunStream[Out]]: ...
