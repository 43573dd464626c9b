"""Why a model call failed, as a value."""

from stepfold.loop import Timeouts
from stepfold.values import ModelError, ModelErrorReason, UsageError

_FIRST_CHUNK = "first-chunk-timeout"
_CHUNK = "chunk-timeout"


def reason_of(error: Exception) -> ModelErrorReason:
    """The reason in a `ModelError`; any other exception is a fault in the model's own code.

    What it says may be a secret, but for a `UsageError`: that is told.
    """
    if isinstance(error, ModelError):
        return error.reason
    said = f": {error}" if isinstance(error, UsageError) else ""
    return ModelErrorReason("unknown", f"the model raised {type(error).__name__}{said[:1000]}")


def silence(timeouts: Timeouts, *, has_spoken: bool) -> ModelErrorReason:
    """Why an attempt failed in which the model said nothing for too long."""
    seconds = timeouts.chunk if has_spoken else timeouts.first_chunk
    code, since = (_CHUNK, "what it said last") if has_spoken else (_FIRST_CHUNK, "the request")
    message = f"the model said nothing for {seconds:g} seconds after {since}"
    return ModelErrorReason("timeout", message, code=code)
