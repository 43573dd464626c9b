"""What is shown of a pipeline while it runs."""

import io

import anyio
from rich.console import Console

import stepfold as sf
from stepfold.cli.progress import PipelineProgress
from stepfold.pipeline import notes
from stepfold.pipeline.events import StageKey
from stepfold.testing import ScriptedModel, reply


@sf.stage
async def weigh(word: str) -> int:
    await anyio.sleep(0.001)
    return len(word)


@sf.stage
def words(text: str) -> list[str]:
    return text.split()


async def test_fans_have_bars_and_stages_lines() -> None:
    progress = PipelineProgress(Console(file=io.StringIO()))
    seen: list[tuple[str, ...]] = []
    agent = sf.Agent(model=ScriptedModel([reply("Done.")]))
    pipeline = words.map_each(weigh, limit=2).map(str).then(agent.stage(lambda text: text))

    def watch(note: notes.Note) -> None:
        progress(note)
        if not seen or seen[-1] != progress.shown:
            seen.append(progress.shown)

    with progress:
        await pipeline.run("a bc def", observers=[watch])

    assert ("map_each 0/3",) in seen
    assert ("map_each · weigh 1/3",) in seen
    assert ("map_each · weigh 3/3",) in seen
    assert ("agent · step 0: asking scripted/model",) in seen
    assert seen[-1] == ()


def test_an_input_that_is_waited_for_is_shown() -> None:
    progress = PipelineProgress(Console(file=io.StringIO()))

    progress(notes.InputAsked(StageKey((), 1), "approval", "Well?", 0))

    assert progress.shown == ("waiting for approval",)


async def test_agents_in_a_fan_are_told_of_at_its_bar() -> None:
    progress = PipelineProgress(Console(file=io.StringIO()))
    seen: list[tuple[str, ...]] = []
    agent = sf.Agent(model=ScriptedModel([reply("Done.")]))
    pipeline = words.map_each(agent.stage(lambda text: text).named("worker"), limit=2)

    def watch(note: notes.Note) -> None:
        progress(note)
        seen.append(progress.shown)

    await pipeline.run("a", observers=[watch])

    assert ("map_each · worker/agent · step 0: asking scripted/model 0/1",) in seen


def test_an_agent_that_waits_for_answers_is_shown_until_it_goes_on() -> None:
    progress = PipelineProgress(Console(file=io.StringIO()))
    key = StageKey((), 1)
    request = sf.OpenApproval("1", sf.ToolCall("1", "send", "{}"), "digest")

    seen: list[str] = []
    for note in (
        notes.StageStarted(key, "mail", 0),
        notes.AgentRested(key, "mail", (request,), 1),
        notes.StageStarted(key, "mail", 2),
        notes.StageFinished(key, "mail", "succeeded", 3),
    ):
        progress(note)
        seen.append(", ".join(progress.shown))

    assert seen == ["mail", "mail · waiting for an answer", "mail", ""]
