"""A model that asks a fake server, sample by sample."""

import random
from collections.abc import Sequence
from typing import Final, final

from attrs import frozen

from stepfold.ports import LanguageModel
from stepfold.testing.conformance._fake_server import Answer, Ending, FakeServer
from stepfold.testing.conformance._heard import Heard, Result, ask, listen
from stepfold.testing.conformance._samples import ProviderSample
from stepfold.values import ModelRequest

SECRET: Final = "do0not1show2this3to4anybody5"  # noqa: S105 - it opens nothing
"""The key that the model is given; it must never come back in a text."""

LARGEST_RESPONSE: Final = 262_144
"""How many bytes a model may read of one response."""

_JSON: Final = (("content-type", "application/json"),)


@final
@frozen(order=False, eq=False)
class Trial:
    """What is tried: a model and its server, and what it is asked."""

    model: LanguageModel
    server: FakeServer
    request: ModelRequest
    chance: random.Random

    async def stream(
        self, sample: ProviderSample, chunks: Sequence[bytes], ending: Ending = "end"
    ) -> Heard:
        """Have these chunks streamed."""
        kind = sample.content_type
        self.server.will(
            Answer(chunks=tuple(chunks), ending=ending, headers=(("content-type", kind),))
        )
        return await listen(self.model, self.request)

    async def generate(
        self, chunks: Sequence[bytes], ending: Ending = "end", status: int = 200
    ) -> Result:
        """Have these chunks come as a response in one piece."""
        self.server.will(Answer(chunks=tuple(chunks), ending=ending, status=status, headers=_JSON))
        return await ask(self.model, self.request)

    async def refused(self, how: str, status: int, body: bytes) -> Result:
        """Have a request refused, with seven seconds to wait."""
        headers = (*_JSON, ("retry-after", "7"))
        self.server.will(Answer(chunks=(body,), status=status, headers=headers))
        if how == "generate":
            return await ask(self.model, self.request)
        return (await listen(self.model, self.request)).end


def cut(data: bytes, points: Sequence[int]) -> tuple[bytes, ...]:
    """The data in pieces, cut at these points, none of them empty."""
    ends = [*sorted(points), len(data)]
    starts = [0, *ends[:-1]]
    return tuple(data[start:end] for start, end in zip(starts, ends, strict=True) if end > start)


def place(data: bytes, point: int) -> str:
    """Where a byte is, for a reader."""
    before, after = data[max(0, point - 30) : point], data[point : point + 12]
    return f"byte {point} of {len(data)}: {before!r} | {after!r}"
