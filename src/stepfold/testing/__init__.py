"""Floor 7: what tests of programs are made of.

`ScriptedModel` says what it is told to say, `VirtualClock` never waits. `stepfold.testing.laws`
holds the laws as plain functions; `stepfold.testing.strategies` (which needs hypothesis) draws
programs, scripts and histories to try them on.
"""

from stepfold.testing._clock import VirtualClock
from stepfold.testing._reply import call, reply
from stepfold.testing._scripted import Answer, AnswerFunction, Scripted, ScriptedModel

__all__ = (
    "Answer",
    "AnswerFunction",
    "Scripted",
    "ScriptedModel",
    "VirtualClock",
    "call",
    "reply",
)
