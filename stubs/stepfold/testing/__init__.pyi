from stepfold.testing._clock import VirtualClock
from stepfold.testing._embedding import (
    ScriptedEmbeddingModel,
    ScriptedRerankingModel,
    hashed_embedding,
)
from stepfold.testing._network_guard import NetworkBlocked, NetworkGuard, no_network
from stepfold.testing._reply import call, reply
from stepfold.testing._run_script import ScriptOptions, run_script
from stepfold.testing._scripted import Answer, AnswerFunction, Scripted, ScriptedModel
from stepfold.testing._simulation import (
    Intervention,
    InterventionKind,
    Moment,
    Schedule,
    Trace,
    answered_command,
    carry_on,
    simulate,
)
from stepfold.testing._world import Turn, World

__all__ = (
    "Answer",
    "AnswerFunction",
    "Intervention",
    "InterventionKind",
    "Moment",
    "NetworkBlocked",
    "NetworkGuard",
    "Schedule",
    "ScriptOptions",
    "Scripted",
    "ScriptedEmbeddingModel",
    "ScriptedModel",
    "ScriptedRerankingModel",
    "Trace",
    "Turn",
    "VirtualClock",
    "World",
    "answered_command",
    "call",
    "carry_on",
    "hashed_embedding",
    "no_network",
    "reply",
    "run_script",
    "simulate",
)
