"""What a run shows goes through a file as it was, in whole lines."""

import logging
from collections.abc import Sequence
from pathlib import Path

import pytest

from stepfold.codec import StoredDataError
from stepfold.durable import FileChannel, StreamedPart
from stepfold.durable._channel import Publisher
from stepfold.durable._streamed import decode_streamed, encode_streamed
from stepfold.loop.commands import CallKey
from stepfold.shell import ToolProgressed
from stepfold.values import JsonText, StreamPart, TextDelta, ToolCall

PARTS = (
    StreamedPart("CallModel/0/0", 1, 0, TextDelta("t", "One\nline.")),
    StreamedPart(
        "RunTool/0/0/0",
        2,
        1,
        ToolProgressed(CallKey(0, 0, 0), JsonText('{"a": 1}'), ToolCall("c", "look", "{}")),
    ),
)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.command)
def test_a_part_comes_back_as_it_was(part: StreamedPart) -> None:
    line = encode_streamed(part)

    assert "\n" not in line
    assert decode_streamed(line.encode()) == part


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"v":99,"command":"c","attempt":1,"index":0,"part":{"type":"text-delta"}}',
        b'{"v":1,"command":"c","attempt":1,"index":0,"part":{"type":"text-delta"}}',
        b'{"v":1,"command":"c","attempt":1,"index":0,"part":{"type":"nothing"}}',
    ],
    ids=lambda line: line[:72].decode(),
)
def test_what_is_no_part_is_an_error(line: bytes) -> None:
    with pytest.raises(StoredDataError):
        decode_streamed(line)


async def test_readers_begin_anywhere_and_see_whole_lines_only(tmp_path: Path) -> None:
    channel, reader = FileChannel(tmp_path / "shown"), FileChannel(tmp_path / "shown")
    assert await reader.read("a/run", 0) == ([], 0)
    await channel.publish("a/run", PARTS[:1])
    found, place = await reader.read("a/run", 0)
    assert found == [*PARTS[:1]]

    await channel.publish("a/run", PARTS[1:])
    await channel.publish("another", PARTS)
    assert (await reader.read("a/run", place))[0] == [*PARTS[1:]]
    assert (await reader.read("a/run", 0))[0] == [*PARTS]

    for file in (tmp_path / "shown").iterdir():
        with file.open("ab") as torn:
            torn.write(b'{"v":1')
    found, last = await reader.read("a/run", 0)
    assert found == [*PARTS]
    assert await reader.read("a/run", last) == ([], last)


class Broken:
    """A channel whose disk is full."""

    async def publish(self, run: str, parts: Sequence[StreamedPart], /) -> None:
        raise OSError("the disk is full")

    async def read(self, run: str, place: int, /) -> tuple[Sequence[StreamedPart], int]:
        raise OSError("the disk is full")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_channel_that_fails_is_reported_and_no_more(
    anyio_backend: str, caplog: pytest.LogCaptureFixture
) -> None:
    part: StreamPart = TextDelta("t", "One.")
    with caplog.at_level(logging.ERROR, "stepfold"):
        async with Publisher(Broken(), "run", "CallModel/0/0", 1) as publisher:
            publisher.show(part)

    assert "CallModel/0/0 of the run 'run'" in caplog.text
    assert "the disk is full" in caplog.text
