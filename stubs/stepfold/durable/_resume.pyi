from collections.abc import Sequence
from typing import TypeVar, overload
from typing_extensions import Unpack
from stepfold.agent import Agent, AnyAnswer, Run
from stepfold.durable._working import DurableOptions
from stepfold.ports import JournalStore
from stepfold.shell import ToolContext
from stepfold.values import Message

D = TypeVar("D")
Out = TypeVar("Out")

@overload
async def run(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    parent: None = None,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def run(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: None = None,
    parent: ToolContext[object],
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
    parent: None = None,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def run(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: None = None,
    parent: ToolContext[object],
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
