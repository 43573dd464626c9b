from stepfold.loop._program import RetryPolicy
from stepfold.values import ModelErrorReason

def pause_before_retry(
    policy: RetryPolicy, attempt: int, reason: ModelErrorReason, seed: int, place: str
) -> int | None: ...
def pause_of(policy: RetryPolicy, attempt: int, seed: int, place: str) -> int: ...
