"""The axis of time of a page: long times in which nothing was at work take little room."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, Literal, Self, TypeAlias, final

from attrs import frozen

from stepfold.values import Instant

_LONG: Final = 0.15
_SHORTENED: Final = 0.03
_TICKS: Final = 5

TickKind: TypeAlias = Literal["from", "", "to"]


@final
@frozen(order=False)
class Axis:
    """Instants and their places, in percent of the width; in between it is even.

    `idle` are the stretches, by the number of their first point, that were made short.
    """

    points: tuple[Instant, ...]
    places: tuple[float, ...]
    idle: frozenset[int] = frozenset()

    @classmethod
    def of(cls, began: Instant, spans: Sequence[tuple[Instant, Instant]]) -> Self:
        """Lay an axis over spans; times between them longer than 15 % of all are made short."""
        busy: list[tuple[Instant, Instant]] = [(began, began)]
        for start, end in sorted(spans):
            if start <= busy[-1][1]:
                busy[-1] = (busy[-1][0], max(busy[-1][1], end))
            else:
                busy.append((start, end))
        work = sum(end - start for start, end in busy)
        long = max(1.0, _LONG * work)
        points: list[Instant] = []
        weights: list[float] = []
        idle: set[int] = set()
        for start, end in busy:
            if points:
                pause = start - points[-1]
                if pause > long:
                    idle.add(len(points) - 1)
                weights.append(max(1.0, _SHORTENED * work) if pause > long else pause)
            points.append(start)
            weights.append(end - start)
            points.append(end)
        total = sum(weights) or 1.0
        places = [0.0]
        for weight in weights:
            places.append(places[-1] + 100 * weight / total)
        return cls(tuple(points), tuple(places), frozenset(idle))

    def place(self, instant: Instant) -> float:
        """Where an instant is, in percent."""
        after = bisect_right(self.points, instant)
        if after == 0:
            return 0.0
        if after == len(self.points):
            return self.places[-1]
        start, end = self.points[after - 1], self.points[after]
        left, right = self.places[after - 1], self.places[after]
        return left + (right - left) * (instant - start) / (end - start)

    def gaps(self) -> Iterator[tuple[float, float, int]]:
        """Give the shortened stretches: place, width, and their time in nanoseconds."""
        for number in sorted(self.idle):
            left, right = self.places[number], self.places[number + 1]
            yield left, right - left, self.points[number + 1] - self.points[number]

    def ticks(self) -> Iterator[tuple[float, int, TickKind]]:
        """Give places and the times since the beginning that they stand for."""
        for number in range(_TICKS):
            place = 100 * number / (_TICKS - 1)
            kind: TickKind = "from" if number == 0 else "to" if number == _TICKS - 1 else ""
            yield place, self._instant(place) - self.points[0], kind

    def _instant(self, place: float) -> Instant:
        after = min(bisect_right(self.places, place), len(self.places) - 1)
        left, right = self.places[after - 1], self.places[after]
        start, end = self.points[after - 1], self.points[after]
        share = (place - left) / (right - left) if right > left else 0.0
        return start + round((end - start) * share)
