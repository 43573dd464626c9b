"""The pauses between chunks of output."""

import math
from collections.abc import Sequence
from itertools import pairwise

from stepfold.values import ChunkGaps, Instant


def gaps_of(times: Sequence[Instant]) -> ChunkGaps | None:
    """Sum up the gaps between these instants; `None` with fewer than two of them.

    Percentiles are by nearest rank: the value at position `ceil(p * n)`, counted from 1.
    """
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    if not gaps:
        return None

    def percentile(share: float) -> int:
        return gaps[max(0, math.ceil(share * len(gaps)) - 1)]

    return ChunkGaps(
        count=len(gaps),
        min=gaps[0],
        p10=percentile(0.1),
        median=percentile(0.5),
        average=sum(gaps) // len(gaps),
        p90=percentile(0.9),
        max=gaps[-1],
    )
