from stepfold.testing.conformance._journal import check_journal
from stepfold.testing.conformance._provider import check_provider
from stepfold.testing.conformance._samples import ProviderSample, sse_events

__all__ = ("ProviderSample", "check_journal", "check_provider", "sse_events")
