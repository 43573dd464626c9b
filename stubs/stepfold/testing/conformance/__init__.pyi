from stepfold.testing.conformance._findings import (
    LawBroken,
    LawStatus,
    LawVerdict,
    StatedLaw,
    verdicts_of,
)
from stepfold.testing.conformance._journal import check_journal
from stepfold.testing.conformance._middleware import MIDDLEWARE_LAWS, check_middleware
from stepfold.testing.conformance._provider import check_provider
from stepfold.testing.conformance._samples import ProviderSample, sse_events
from stepfold.testing.conformance._stage import STAGE_LAWS, check_stage
from stepfold.testing.conformance._stop_condition import CONDITION_LAWS, check_stop_condition
from stepfold.testing.conformance._tool import TOOL_LAWS, check_tool
from stepfold.testing.conformance._transform import TRANSFORM_LAWS, check_transform

__all__ = (
    "CONDITION_LAWS",
    "MIDDLEWARE_LAWS",
    "STAGE_LAWS",
    "TOOL_LAWS",
    "TRANSFORM_LAWS",
    "LawBroken",
    "LawStatus",
    "LawVerdict",
    "ProviderSample",
    "StatedLaw",
    "check_journal",
    "check_middleware",
    "check_provider",
    "check_stage",
    "check_stop_condition",
    "check_tool",
    "check_transform",
    "sse_events",
    "verdicts_of",
)
