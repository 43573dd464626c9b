"""Strategies that draw what the laws are about: programs, worlds, schedules, histories, runs.

Needs hypothesis (the extra `testing`). Functions are named in the plural after what they draw;
arguments are keywords, ranges and percentages. Failures shrink towards one plain tool, a question
and a final answer.
"""

from stepfold.testing.strategies._by_type import strategy_for
from stepfold.testing.strategies._histories import histories, messy_histories, prompts
from stepfold.testing.strategies._models import byte_chunkings, middlewares, scripts
from stepfold.testing.strategies._programs import (
    broken_conditions,
    counting_conditions,
    limits,
    outputs,
    prices,
    programs,
    retry_policies,
    stop_conditions,
    tool_choices,
    tool_specs,
)
from stepfold.testing.strategies._runs import progresses, reached_states, traces
from stepfold.testing.strategies._schemas import replies_to, schema_documents
from stepfold.testing.strategies._worlds import (
    argument_texts,
    call_ids,
    model_errors,
    model_replies,
    schedules,
    step_plans,
    tool_calls,
    tool_outcomes,
    turns,
    usages,
    worlds,
)

__all__ = (
    "argument_texts",
    "broken_conditions",
    "byte_chunkings",
    "call_ids",
    "counting_conditions",
    "histories",
    "limits",
    "messy_histories",
    "middlewares",
    "model_errors",
    "model_replies",
    "outputs",
    "prices",
    "programs",
    "progresses",
    "prompts",
    "reached_states",
    "replies_to",
    "retry_policies",
    "schedules",
    "schema_documents",
    "scripts",
    "step_plans",
    "stop_conditions",
    "strategy_for",
    "tool_calls",
    "tool_choices",
    "tool_outcomes",
    "tool_specs",
    "traces",
    "turns",
    "usages",
    "worlds",
)
