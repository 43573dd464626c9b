"""What a run shows while it is carried out, as a stream of the engine: some lines at a time."""

from collections.abc import Sequence
from typing import Final, final

from dbos import DBOS, error

from stepfold.durable._channel import StreamedPart
from stepfold.durable._streamed import decode_streamed, encode_streamed

PARTS: Final = "parts"
"""The key of the stream."""


@final
class StreamOfParts:
    """A channel that a step publishes in; what it shows is kept with the workflow."""

    async def publish(self, run: str, parts: Sequence[StreamedPart], /) -> None:
        """Add parts to the stream of the workflow whose step this is."""
        await DBOS.write_stream_async(PARTS, "\n".join(map(encode_streamed, parts)))

    async def read(self, run: str, place: int, /) -> tuple[Sequence[StreamedPart], int]:
        """Give what a run has shown after a place, and the place after that.

        Raises:
            StoredDataError: the stream holds what this version does not know.
        """
        found: list[StreamedPart] = []
        values = DBOS.read_stream_async(run, PARTS, offset=place, timeout_seconds=0)
        try:
            async for value in values:
                place += 1
                found += [decode_streamed(line.encode()) for line in str(value).split("\n")]
        except error.DBOSStreamTimeoutError:
            pass  # that is all there is by now
        finally:
            await values.aclose()
        return found, place
