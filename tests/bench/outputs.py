"""A streamed array of objects: partial values and elements, beside parsing it once at its end."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import final

import anyio
from attrs import field, frozen

import stepfold as sf
from tests.bench.measure import Figure, best_of, timed

SIZES = (500, 2_000)


@frozen
class Row:
    """One object of the array."""

    id: int
    name: str
    score: float


@final
@frozen
class Fake:
    """A model that streams an array, in deltas of one object or of so many characters."""

    deltas: tuple[str, ...] = field(repr=False)
    provider: str = "bench"
    model_id: str = "rows"

    async def generate(self, request: sf.ModelRequest) -> sf.ModelReply:
        raise NotImplementedError

    @sf.streamed
    async def stream(self, request: sf.ModelRequest) -> AsyncGenerator[sf.StreamPart]:
        del request
        yield sf.StreamStart()
        yield sf.TextStart("0")
        for delta in self.deltas:
            yield sf.TextDelta("0", delta)
        yield sf.TextEnd("0")
        yield sf.Finish(sf.FinishReason("stop"))


def pieces(count: int, size: int | None) -> tuple[str, ...]:
    """The document, cut after each object, or after so many characters."""
    rows = [json.dumps({"id": n, "name": f"Row {n}", "score": n / 2}) for n in range(count)]
    if size is None:
        return ('{"elements": [', *(f"{row}, " for row in rows[:-1]), rows[-1], "]}")
    text = f'{{"elements": [{", ".join(rows)}]}}'
    return tuple(text[place : place + size] for place in range(0, len(text), size))


def _stream(deltas: tuple[str, ...]) -> sf.RunStream[tuple[Row, ...]]:
    return sf.stream_text("go", model=Fake(deltas), output=sf.array_of(Row))


async def _elements(deltas: tuple[str, ...], count: int) -> None:
    async with _stream(deltas) as stream:
        seen = [row async for row in stream.elements()]
    if len(seen) != count:
        raise AssertionError(len(seen))


async def _partials(deltas: tuple[str, ...], count: int) -> None:
    last: sf.PartialJson = None
    async with _stream(deltas) as stream:
        async for partial_output in stream.partial_output():
            last = partial_output
    if not isinstance(last, sf.PartialArray) or len(last) != count:
        raise AssertionError(last)


async def _text(deltas: tuple[str, ...], count: int) -> None:
    """The same stream, read as text: what is to be taken off for the run itself."""
    del count
    async with _stream(deltas) as stream:
        async for _ in stream.text():
            pass


def measured(
    read: Callable[[tuple[str, ...], int], Awaitable[None]], deltas: tuple[str, ...], count: int
) -> Figure:
    return timed(lambda: anyio.run(read, deltas, count))


def report() -> float:
    """Print the cost of an object, and give how it grows with their number."""
    most = 0.0
    heads = ("an object of a streamed array", "text µs", "partials µs", "elements µs")
    print("{:>36} {:>9} {:>12} {:>12}".format(*heads))
    for what, size in (("a delta each", None), ("deltas of 4 characters", 4)):
        costs: list[float] = []
        for count in SIZES:
            deltas = pieces(count, size)
            figures = best_of(
                3,
                *(partial(measured, read, deltas, count) for read in (_text, _partials, _elements)),
            )
            per = [figure.cpu / count * 1e6 for figure in figures]
            costs.append(per[2])
            print(f"{f'{count:,}, {what}':>36} {per[0]:>9.1f} {per[1]:>12.1f} {per[2]:>12.1f}")
        most = max(most, costs[-1] / costs[0])
    print()
    return most
