from stepfold.testing.conformance._provider import check_provider
from stepfold.testing.conformance._samples import ProviderSample, sse_events

__all__ = ("ProviderSample", "check_provider", "sse_events")
