"""Laws of what a provider's model makes of responses that are lawful, cut or broken off."""

from collections.abc import Sequence

from stepfold.testing.conformance._heard import (
    Heard,
    broken_law,
    difference,
    essence,
    says_the_same,
    told,
)
from stepfold.testing.conformance._samples import ProviderSample
from stepfold.testing.conformance._trial import Trial, cut, place
from stepfold.values import ModelErrorReason, ModelReply

_CUTTINGS = 6


async def samples_are_understood(trial: Trial, sample: ProviderSample) -> None:
    """A lawful response is a reply, and one that tells of an error is a typed error."""
    expected = "a typed error" if sample.is_error else "a reply"
    kind = ModelErrorReason if sample.is_error else ModelReply
    if sample.events:
        heard = await trial.stream(sample, sample.events)
        if not isinstance(heard.end, kind):
            broken_law(
                "a lawful stream must be understood",
                sample=sample.name,
                done="the events came one by one",
                expected=expected,
                came=heard.end,
            )
    if sample.body:
        asked = await trial.generate([sample.body], status=sample.status)
        if not isinstance(asked, kind):
            broken_law(
                "a lawful body must be understood",
                sample=sample.name,
                done="the body came in one piece",
                expected=expected,
                came=asked,
            )


async def generate_is_the_folded_stream(trial: Trial, sample: ProviderSample) -> None:
    """One reply is the same in one piece and part by part."""
    if not sample.events or not sample.body or sample.is_error:
        return
    asked = essence(await trial.generate([sample.body]))
    streamed = essence((await trial.stream(sample, sample.events)).end)
    if asked != streamed:
        from_body, from_stream = difference(asked, streamed)
        broken_law(
            "generate must give what the parts of the stream fold to",
            sample=sample.name,
            done="the same reply came as a body and as a stream",
            expected=f"as from the body, where {from_body}",
            came=f"from the stream, {from_stream}",
        )


async def chunking_changes_nothing(trial: Trial, sample: ProviderSample) -> None:
    """However the network cuts a stream, the parts are the same."""
    data = b"".join(sample.events)
    whole = await trial.stream(sample, [data])
    ways: list[list[int]] = [list(range(1, len(data)))]
    if len(data) > 1:
        ways += [trial.chance.choices(range(1, len(data)), k=12) for _ in range(_CUTTINGS)]
    for points in ways:
        if await trial.stream(sample, cut(data, points)) != whole:
            fewest = await _fewest_cuts(trial, sample, data, points, whole)
            came = await trial.stream(sample, cut(data, fewest))
            where = "; ".join(place(data, point) for point in fewest[:3])
            expected, got = difference(whole, came)
            broken_law(
                "how the network cuts a stream must change nothing",
                sample=sample.name,
                done=f"the stream came in {len(fewest) + 1} chunks, cut at {where}",
                expected=f"as in one chunk, where {expected}",
                came=got,
            )


async def _fewest_cuts(
    trial: Trial, sample: ProviderSample, data: bytes, points: Sequence[int], whole: Heard
) -> list[int]:
    """Fewer cuts that change something too; one, where one does."""
    for point in points[:2_000]:
        if await trial.stream(sample, cut(data, [point])) != whole:
            return [point]
    kept = sorted(set(points))[:64]
    for point in tuple(kept):
        fewer = [other for other in kept if other != point]
        if await trial.stream(sample, cut(data, fewer)) != whole:
            kept = fewer
    return kept if await trial.stream(sample, cut(data, kept)) != whole else list(points)


async def cut_streams_are_no_replies(
    trial: Trial, sample: ProviderSample, *, every_byte: bool
) -> None:
    """A stream that ends early is a typed error, unless all that mattered had come."""
    if sample.is_error:
        return
    data = b"".join(sample.events)
    whole = await trial.stream(sample, sample.events)
    for point in _points(sample, every_byte=every_byte):
        heard = await trial.stream(sample, [data[:point]] if point else [])
        done = f"the response ended after {place(data, point)}"
        _check_cut(sample, done, heard, whole)
    for point in _points(sample, every_byte=False):
        heard = await trial.stream(sample, [data[:point]] if point else [], "break")
        done = f"the connection broke after {place(data, point)}"
        _check_cut(sample, done, heard, whole)


def _check_cut(sample: ProviderSample, done: str, heard: Heard, whole: Heard) -> None:
    if not says_the_same(heard.end, whole.end):
        broken_law(
            "a stream that is cut must end in a ModelError, or be the same reply",
            sample=sample.name,
            done=done,
            expected=f"a typed error, or {told(whole.end)}",
            came=heard.end,
        )
    if not whole.text.startswith(heard.text):
        broken_law(
            "before a cut nothing may be said that the whole stream does not say",
            sample=sample.name,
            done=done,
            expected=f"the beginning of {whole.text!r}",
            came=repr(heard.text),
        )


def _points(sample: ProviderSample, *, every_byte: bool) -> list[int]:
    """Where to cut: at every byte, or around the ends of events; all but at the end."""
    size = sum(map(len, sample.events))
    if every_byte:
        return list(range(size))
    points: set[int] = set()
    at = 0
    for event in sample.events:
        points |= {at, at + 1, at + len(event) // 2, at + len(event) - 1}
        at += len(event)
    return sorted(point for point in points if point < size)


async def cut_bodies_are_no_replies(trial: Trial, sample: ProviderSample) -> None:
    """A body that ends early is a typed error, unless only white space is missing."""
    if sample.is_error or not sample.body:
        return
    whole = essence(await trial.generate([sample.body]))
    for point in range(len(sample.body)):
        for ending in ("end", "break") if point % 16 == 0 else ("end",):
            asked = essence(await trial.generate([sample.body[:point]], ending))
            if not isinstance(asked, ModelErrorReason) and asked != whole:
                broken_law(
                    "a body that is cut must end in a ModelError",
                    sample=sample.name,
                    done=f"the response ended after {place(sample.body, point)}",
                    expected="a typed error",
                    came=asked,
                )
