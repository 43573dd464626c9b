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
from stepfold.agent._generate import generate_text, stream_text
from stepfold.agent._options import AgentOptions, GenerateOptions, RunOptions
from stepfold.agent._output import Output, array_of, choice_of, json, object_of, text
from stepfold.agent._output_partial import PartialOutput
from stepfold.agent._output_wire import Strategy
from stepfold.agent._run import Run, RunFailed
from stepfold.agent._run_stream import RunStream

__all__ = (
    "Agent",
    "AgentOptions",
    "Answer",
    "AnyAnswer",
    "CallAnswer",
    "GenerateOptions",
    "Output",
    "PartialOutput",
    "Run",
    "RunFailed",
    "RunOptions",
    "RunStream",
    "Strategy",
    "approve",
    "array_of",
    "choice_of",
    "deny",
    "generate_text",
    "json",
    "object_of",
    "stream_text",
    "text",
    "tool_error",
    "tool_output",
)
