"""How long to wait before a failed call of a model is made again."""

import hashlib

from stepfold.loop._program import RetryPolicy
from stepfold.loop._stop import SECOND
from stepfold.values import ModelErrorReason


def pause_before_retry(
    policy: RetryPolicy, attempt: int, reason: ModelErrorReason, seed: int, place: str
) -> int | None:
    """Nanoseconds to wait after this attempt, counted from 0; `None` is no retry.

    The jitter is drawn from the seed and the place: what the call is, and which attempt.
    """
    if not reason.is_retryable or attempt >= policy.max_retries:
        return None
    if reason.retry_after is not None:
        if reason.retry_after > policy.max_retry_after * SECOND:
            return None
        return max(0, reason.retry_after)
    return pause_of(policy, attempt, seed, place)


def pause_of(policy: RetryPolicy, attempt: int, seed: int, place: str) -> int:
    """Nanoseconds to wait after this attempt, counted from 0, where nobody asked for more."""
    try:
        delay = min(policy.initial_delay * policy.factor**attempt, policy.max_delay)
    except OverflowError:
        delay = policy.max_delay
    return int(delay * _jitter(policy.jitter, seed, place) * SECOND)


def _jitter(share: float, seed: int, place: str) -> float:
    """A factor between `1 - share` and `1 + share`: keyed BLAKE2 of seed and place."""
    digest = hashlib.blake2b(f"{seed}/{place}".encode(), digest_size=8).digest()
    return 1 + share * (int.from_bytes(digest, "big") / (1 << 63) - 1)
