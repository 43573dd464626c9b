from collections.abc import Sequence
from typing import TypeVar, overload
from typing_extensions import TypedDict, Unpack
from stepfold.agent import Agent, AnyAnswer, Run
from stepfold.durable._seal import Seal
from stepfold.ports import Clock, JournalStore
from stepfold.shell import CancelHandle, Observer, Steering
from stepfold.values import Message

D = TypeVar("D")
Out = TypeVar("Out")

class DurableOptions(TypedDict, total=False):
    clock: Clock
    observers: Sequence[Observer]
    cancel: CancelHandle
    steering: Steering
    owner: str
    lease_seconds: float
    seal: Seal
    allow_other_program: bool

@overload
async def run(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def run(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def resume(
    agent: Agent[object, Out],
    store: JournalStore,
    run_id: str,
    /,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def resume(
    agent: Agent[D, Out],
    store: JournalStore,
    run_id: str,
    /,
    *,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def answer(
    agent: Agent[object, Out],
    store: JournalStore,
    run_id: str,
    answers: Sequence[AnyAnswer],
    /,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def answer(
    agent: Agent[D, Out],
    store: JournalStore,
    run_id: str,
    answers: Sequence[AnyAnswer],
    /,
    *,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def take_over(
    agent: Agent[object, Out],
    store: JournalStore,
    /,
    *,
    most: int | None = None,
    **options: Unpack[DurableOptions],
) -> tuple[Run[Out], ...]: ...
@overload
async def take_over(
    agent: Agent[D, Out],
    store: JournalStore,
    /,
    *,
    deps: D,
    most: int | None = None,
    **options: Unpack[DurableOptions],
) -> tuple[Run[Out], ...]: ...
