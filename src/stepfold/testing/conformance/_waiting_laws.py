"""Laws of a provider's model that waits: for a silent server, and for nobody any more."""

import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from types import AsyncGeneratorType
from typing import TypeAlias

from anyio import Event, create_task_group, get_running_tasks, move_on_after

from stepfold.testing.conformance._fake_server import Answer
from stepfold.testing.conformance._heard import (
    PATIENCE,
    Broken,
    Heard,
    Result,
    broken_law,
    listen,
    says_the_same,
)
from stepfold.testing.conformance._samples import ProviderSample
from stepfold.testing.conformance._trial import Trial
from stepfold.values import ModelErrorReason, ModelReply

_Generator: TypeAlias = AsyncGeneratorType[object, object]


async def silence_is_a_timeout(trial: Trial, sample: ProviderSample) -> None:
    """A server that falls silent is given up in time; a reply that has come whole is kept."""
    count = len(sample.events)
    whole = await trial.stream(sample, sample.events)
    for number in sorted({0, 1, count // 2, count - 1, count} & set(range(count + 1))):
        heard = await trial.stream(sample, sample.events[:number], "stall")
        done = f"the server fell silent after {number} of {count} events"
        if number == count and isinstance(heard.end, ModelReply | ModelErrorReason):
            continue
        is_same = isinstance(heard.end, ModelReply) and says_the_same(heard.end, whole.end)
        if not is_same and not _is_timeout(heard.end):
            _refuse_silence(sample, done, heard.end)
    asked = await trial.generate([], "stall")
    if not _is_timeout(asked):
        _refuse_silence(sample, "the server never answered generate", asked)


def _is_timeout(result: Result) -> bool:
    return isinstance(result, ModelErrorReason) and result.kind == "timeout"


def _refuse_silence(sample: ProviderSample, done: str, came: Result) -> None:
    broken_law(
        "a silent server must end in a ModelError of kind timeout, at limits.read",
        sample=sample.name,
        done=done,
        expected="a typed error of kind timeout",
        came=came,
    )


async def leaving_early_leaves_nothing(trial: Trial, sample: ProviderSample) -> None:
    """A stream that is left, or cancelled, closes its response and has no task or generator."""
    for number in range(len(sample.events) + 1):
        done = f"the stream was left after {number} parts"
        with _watching(trial, sample, done):
            await _leave(trial, sample, number)
    for number in sorted({0, 1, len(sample.events) // 2}):
        done = f"the run was cancelled after {number} events"
        with _watching(trial, sample, done):
            await _cancel(trial, sample, number, done)


async def _leave(trial: Trial, sample: ProviderSample, number: int) -> None:
    kind = (("content-type", sample.content_type),)
    trial.server.will(Answer(chunks=sample.events, headers=kind))
    with move_on_after(PATIENCE):
        async with trial.model.stream(trial.request) as parts:
            for _ in range(number):
                await anext(parts, None)


async def _cancel(trial: Trial, sample: ProviderSample, number: int, done: str) -> None:
    kind = (("content-type", sample.content_type),)
    server = trial.server
    server.will(Answer(chunks=sample.events[:number], ending="stall", headers=kind))
    server.stalled = Event()
    heard: list[Heard] = []

    async def read() -> None:
        heard.append(await listen(trial.model, trial.request))

    try:
        async with create_task_group() as tasks:
            tasks.start_soon(read)
            with move_on_after(PATIENCE):
                await server.stalled.wait()
            tasks.cancel_scope.cancel()
    finally:
        server.stalled = None
    if heard or server.pulls_after_cancel:
        came = heard[0].end if heard else Broken("it read on after it was cancelled")
        broken_law(
            "a cancellation must end the exchange, and pass",
            sample=sample.name,
            done=done,
            expected="no result",
            came=came,
        )


@contextmanager
def _watching(trial: Trial, sample: ProviderSample, done: str) -> Generator[None]:
    """See that nothing of an exchange is left when it is over."""
    started: list[_Generator] = []
    hooks = sys.get_asyncgen_hooks()

    def note(generator: AsyncGenerator[object, object]) -> None:
        if isinstance(generator, AsyncGeneratorType):
            started.append(generator)
        if hooks.firstiter is not None:
            hooks.firstiter(generator)

    tasks = len(get_running_tasks())
    sys.set_asyncgen_hooks(firstiter=note)
    try:
        yield
    finally:
        sys.set_asyncgen_hooks(*hooks)
    left: list[str] = []
    if trial.server.open_bodies:
        left.append(f"{trial.server.open_bodies} open response")
    if len(get_running_tasks()) > tasks:
        left.append("a task")
    left += [f"the generator {g.__qualname__}" for g in started if g.ag_frame is not None]
    if left:
        broken_law(
            "leaving a stream early must leave nothing behind",
            sample=sample.name,
            done=done,
            expected="nothing left",
            came=f"{', '.join(left)} left",
        )
