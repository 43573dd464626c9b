from stepfold.testing.conformance._journal import check_journal
from stepfold.testing.conformance._middleware import check_middleware
from stepfold.testing.conformance._provider import check_provider
from stepfold.testing.conformance._samples import ProviderSample, sse_events
from stepfold.testing.conformance._stage import check_stage
from stepfold.testing.conformance._stop_condition import check_stop_condition
from stepfold.testing.conformance._tool import check_tool
from stepfold.testing.conformance._transform import check_transform

__all__ = (
    "ProviderSample",
    "check_journal",
    "check_middleware",
    "check_provider",
    "check_stage",
    "check_stop_condition",
    "check_tool",
    "check_transform",
    "sse_events",
)
