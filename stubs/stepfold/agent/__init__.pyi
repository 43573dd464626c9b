from stepfold.agent._agent import Agent
from stepfold.agent._answers import (
    Answer,
    AnyAnswer,
    CallAnswer,
    approve,
    deny,
    tool_error,
    tool_output,
)
from stepfold.agent._begun import begun, child_of, newly_granted
from stepfold.agent._generate import generate_text, model_stage, stream_text
from stepfold.agent._options import (
    AgentOptions,
    GenerateOptions,
    RunOptions,
    StreamOptions,
    StreamTextOptions,
)
from stepfold.agent._output import Output, array_of, choice_of, json, object_of, text
from stepfold.agent._output_partial import PartialOutput
from stepfold.agent._output_wire import Strategy
from stepfold.agent._results import result_of
from stepfold.agent._run import Run, RunFailed
from stepfold.agent._run_stream import RunStream
from stepfold.agent._smooth import Chunking, smooth_stream
from stepfold.agent._transforms import PartTransform, Pause, StreamControl, StreamTransform
from stepfold.agent._routes import Routes, route, to

__all__ = (
    "Agent",
    "AgentOptions",
    "Answer",
    "AnyAnswer",
    "CallAnswer",
    "Chunking",
    "GenerateOptions",
    "Output",
    "PartTransform",
    "PartialOutput",
    "Pause",
    "Routes",
    "Run",
    "RunFailed",
    "RunOptions",
    "RunStream",
    "Strategy",
    "StreamControl",
    "StreamOptions",
    "StreamTextOptions",
    "StreamTransform",
    "approve",
    "array_of",
    "begun",
    "child_of",
    "choice_of",
    "deny",
    "generate_text",
    "json",
    "model_stage",
    "newly_granted",
    "object_of",
    "result_of",
    "route",
    "smooth_stream",
    "stream_text",
    "text",
    "to",
    "tool_error",
    "tool_output",
)
