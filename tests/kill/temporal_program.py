"""The workflows whose workers are killed; workers import this in the sandbox, in their folder."""

from pathlib import Path

from stepfold.durable import temporal
from stepfold.loop import RetryPolicy
from stepfold.testing import ScriptedModel
from stepfold.values import AssistantMessage, ModelReply, ModelRequest
from tests.kill.program import STEPS, agent_of, replies_of

WORLD = Path("world")
"""Where tools note what they do: in the folder in which a worker was started."""

SOON = temporal.EngineOptions(heartbeat_seconds=1.0, attempts=100, history_events=300)
"""Lost workers are found out soon, and a run has several histories."""


def answer(request: ModelRequest) -> ModelReply:
    """Answer by what was said: an attempt that was lost is made again as another one."""
    said = sum(isinstance(message, AssistantMessage) for message in request.messages)
    return replies_of(STEPS)[said]


MODEL = ScriptedModel([answer] * 1_000)
SLOW = 0.2
"""Tools take as long as the engine does between them, so that kills come while they are at work."""

RETRY = RetryPolicy(max_retries=50, initial_delay=0.01, factor=1.0)


class Killed(temporal.RunWorkflow):
    """Its tools are what they say."""

    agent = agent_of(WORLD, model=MODEL, retry=RETRY, seconds=SLOW)
    engine = SOON


class KilledCareless(temporal.RunWorkflow):
    """Its tools lie about what they are."""

    agent = agent_of(WORLD, careless=True, model=MODEL, retry=RETRY, seconds=SLOW)
    engine = SOON
