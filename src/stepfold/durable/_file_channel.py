"""`FileChannel`: what runs show, in files that all processes of a machine see."""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, final

from stepfold.durable._channel import StreamedPart
from stepfold.durable._streamed import decode_streamed, encode_streamed
from stepfold.durable._threads import waited


@final
class FileChannel:
    """Keeps what each run shows in a file of a folder; works between all processes that see it.

    Files are only ever added to, in whole lines. Who no longer needs a run's file deletes it.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder: Final = Path(folder)

    async def publish(self, run: str, parts: Sequence[StreamedPart], /) -> None:
        """Add parts to the file of a run."""
        lines = "".join(f"{encode_streamed(part)}\n" for part in parts).encode()
        await waited(lambda: self._add(run, lines))

    async def read(self, run: str, place: int, /) -> tuple[Sequence[StreamedPart], int]:
        """Give what a run has shown after a place in its file, and the place after that."""
        lines, after = await waited(lambda: self._lines(run, place))
        return [decode_streamed(line) for line in lines], after

    def _path(self, run: str) -> Path:
        # names of runs hold what names of files may not
        return self._folder / f"{sha256(run.encode()).hexdigest()[:32]}.jsonl"

    def _add(self, run: str, lines: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self._path(run), flags, 0o600)
        try:
            while lines:
                lines = lines[os.write(descriptor, lines) :]
        finally:
            os.close(descriptor)

    def _lines(self, run: str, place: int) -> tuple[list[bytes], int]:
        """The lines after a place that are whole."""
        path = self._path(run)
        if not path.exists():
            return [], place
        with path.open("rb") as file:
            file.seek(place)
            found = file.read()
        whole = found[: found.rfind(b"\n") + 1]
        return whole.splitlines(), place + len(whole)
