"""How a network may cut a stream, for properties that cut one text in several ways."""

from collections.abc import Sequence


def cut(stream: bytes, points: Sequence[int]) -> list[bytes]:
    """Cut at the points; equal points, and those beyond the end, give empty chunks."""
    ends = [*sorted(min(point, len(stream)) for point in points), len(stream)]
    return [stream[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
