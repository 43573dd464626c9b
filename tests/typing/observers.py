"""An observer is a function; `on` types it by what it is told of."""

from typing import assert_type

import stepfold as sf
from stepfold.testing import ScriptedModel

model = ScriptedModel([])


def watch(seen: sf.Observation) -> None:
    match seen:
        case sf.ModelCallEnded(request=request):
            assert_type(request, sf.ModelRequest)
        case sf.ToolExecutionStarted(context=context):
            assert_type(context, sf.ToolContext[object])
        case sf.EventHappened(transition=transition):
            assert_type(transition, sf.Transition)
        case _:
            pass


async def finished(note: sf.notes.StepFinished, transition: sf.Transition) -> None:
    assert_type(note.result, sf.StepResult)


def called(seen: sf.ModelCallStarted) -> None:
    assert_type(seen.model, str)


def told(seen: sf.Observation) -> None: ...


def either(note: sf.notes.RunEnded | sf.notes.RunBlocked, transition: sf.Transition) -> None: ...


agent = sf.Agent(model=model, observers=[watch, sf.on(sf.ModelCallStarted, called)])
assert_type(agent, sf.Agent[object, str])

assert_type(sf.on(sf.notes.StepFinished, finished), sf.Observer)
sf.on(sf.ModelCallEnded, told)
sf.on(sf.notes.RunEnded, either)


async def running() -> None:
    await agent.generate("go", observers=[sf.on(sf.notes.StepFinished, finished)])
    await sf.generate_text("go", model=model, observers=[watch])
    await agent.generate("go", observers=[finished])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


sf.on(sf.notes.StepStarted, finished)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
sf.on(int, print)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType, reportCallIssue]  # long: pyright lists what can be told
