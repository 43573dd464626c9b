"""Floor 7: what tests of programs are made of.

`run_script` runs tools on scripted replies: `ScriptedModel` says what it is told to say, and
`VirtualClock` never waits. A `ScriptRecorder` makes a script of a real run, `mock_tool` a tool that
answers as it did, and under `no_network` nothing reaches another machine. `ChaosModel` fails as
networks do, and `SchemaModel` says whatever schemas allow. `simulate` takes a program through a
whole run in a simulated `World`, without a model and without an event loop.
`stepfold.testing.laws` holds the laws as plain functions; `stepfold.testing.strategies` (which
needs hypothesis) draws programs, worlds and histories to try them on.
`stepfold.testing.conformance` checks what users add, such as a provider, in one line each;
`stepfold.testing.machine` and `stepfold.testing.exploration` try whole programs. `transcript` tells
a run as text.
"""

from stepfold.testing._chaos import ChaosModel
from stepfold.testing._clock import VirtualClock
from stepfold.testing._divergence import Divergence
from stepfold.testing._embedding import (
    ScriptedEmbeddingModel,
    ScriptedRerankingModel,
    hashed_embedding,
)
from stepfold.testing._exchange import Exchange, PlainAnswer
from stepfold.testing._fingerprint import fingerprint_of, standard_form
from stepfold.testing._mock_tool import NeverRecorded, mock_tool
from stepfold.testing._network_guard import NetworkBlocked, NetworkGuard, no_network
from stepfold.testing._reply import call, reply
from stepfold.testing._run_script import ScriptOptions, run_script
from stepfold.testing._schema_model import Draw, SchemaModel
from stepfold.testing._script_file import read_script, write_script
from stepfold.testing._script_recorder import ScriptRecorder
from stepfold.testing._scripted import (
    Answer,
    AnswerFunction,
    ScriptDiverged,
    Scripted,
    ScriptedModel,
)
from stepfold.testing._simulation import (
    Intervention,
    InterventionKind,
    Moment,
    Schedule,
    Trace,
    answered_command,
    carry_on,
    simulate,
    trace_of,
)
from stepfold.testing._transcript import Transcript, transcript
from stepfold.testing._world import Turn, World

__all__ = (
    "Answer",
    "AnswerFunction",
    "ChaosModel",
    "Divergence",
    "Draw",
    "Exchange",
    "Intervention",
    "InterventionKind",
    "Moment",
    "NetworkBlocked",
    "NetworkGuard",
    "NeverRecorded",
    "PlainAnswer",
    "Schedule",
    "SchemaModel",
    "ScriptDiverged",
    "ScriptOptions",
    "ScriptRecorder",
    "Scripted",
    "ScriptedEmbeddingModel",
    "ScriptedModel",
    "ScriptedRerankingModel",
    "Trace",
    "Transcript",
    "Turn",
    "VirtualClock",
    "World",
    "answered_command",
    "call",
    "carry_on",
    "fingerprint_of",
    "hashed_embedding",
    "mock_tool",
    "no_network",
    "read_script",
    "reply",
    "run_script",
    "simulate",
    "standard_form",
    "trace_of",
    "transcript",
    "write_script",
)
