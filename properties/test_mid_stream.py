"""Law 7 where replies break off: what a reader keeps is what the history holds."""

from typing import get_args

import anyio
from hypothesis import given
from hypothesis import strategies as st

from stepfold.agent import Agent
from stepfold.loop import RetryPolicy, fold_parts, parts_of
from stepfold.loop.notes import ModelRetried, StepFinished, StepStarted
from stepfold.shell import tool
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, laws, reply
from stepfold.values import (
    Failed,
    ModelErrorReason,
    ModelReply,
    StreamError,
    StreamPart,
    StreamStart,
    Text,
    ToolCall,
)

PARTS: tuple[type[StreamPart], ...] = get_args(StreamPart)
REASONS = st.sampled_from(
    [
        ModelErrorReason("overloaded", "busy"),
        ModelErrorReason("connection", "lost"),
        ModelErrorReason("protocol", "garbled"),
        ModelErrorReason("quota", "no money left"),
    ]
)
REPLIES = st.sampled_from(
    [
        reply("Let me see.", call("look"), call("look")),
        reply("One moment", call("look"), "please."),
        reply("That is all."),
    ]
)


@tool
async def look() -> str:
    """Look around."""
    return "seen"


@st.composite
def attempts(draw: st.DrawFn) -> list[Scripted]:
    """Draw replies that break off anywhere, and one that does not; then a final answer."""
    script: list[Scripted] = []
    for _ in range(draw(st.integers(1, 3))):
        whole = draw(REPLIES)
        for _ in range(draw(st.integers(0, 2))):
            parts = parts_of(whole)
            cut = draw(st.integers(0, len(parts) - 1))
            torn: list[StreamPart] = [*parts[:cut], StreamError(draw(REASONS))]
            script.append(torn)
        script.append(whole)
    return [*script, *[reply("That is all.")] * 9]


def agent_of(script: list[Scripted], retries: int) -> Agent:
    models = [
        ScriptedModel(script, provider="acme", model_id=name, chunk_size=3, by_step=True)
        for name in ("one", "two")
    ]
    return Agent(
        model=models[0],
        fallback_models=models[1:],
        tools=[look],
        retry=RetryPolicy(max_retries=retries),
    )


def said(parts: list[StreamPart]) -> list[object]:
    """What the kept parts of one reply fold to, but for calls, which notes tell of."""
    whole: ModelReply = fold_parts([StreamStart(), *parts])
    return [part for part in whole.content if not isinstance(part, ToolCall)]


@given(attempts(), st.integers(0, 2), st.sampled_from(["asyncio", "trio"]))
def test_a_reader_that_takes_back_what_failed_keeps_what_the_history_holds(
    script: list[Scripted], retries: int, backend: str
) -> None:
    async def run() -> None:
        agent = agent_of(script, retries)
        kept: list[StreamPart] = []
        async with agent.stream("Go.", clock=VirtualClock(), run_id="r", seed=0) as stream:
            async for part in stream:
                match part:
                    case StepStarted() | ModelRetried():
                        kept.clear()
                    case StepFinished(result) if result.finish_reason.unified != "interrupted":
                        assert said(kept) == [p for p in result.content if isinstance(p, Text)]
                    case _ if isinstance(part, PARTS):
                        kept.append(part)
                    case _:
                        pass
            streamed = await stream.run()

        whole = agent_of(script, retries)
        outcome = await whole.try_generate("Go.", clock=VirtualClock(), run_id="r", seed=0)
        if isinstance(streamed.end, Failed):  # only a stream knows what had come until then
            assert outcome.failure().error == streamed.end.error
        else:
            laws.same_run(streamed.state, outcome.unwrap().state)

    anyio.run(run, backend=backend)
