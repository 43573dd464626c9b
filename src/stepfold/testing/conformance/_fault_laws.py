"""Laws of what a provider's model makes of servers that garble, refuse, and go on for ever."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from stepfold.testing.conformance._heard import Broken, Result, broken_law
from stepfold.testing.conformance._samples import ProviderSample
from stepfold.testing.conformance._substitution import members_of, name_of, with_member
from stepfold.testing.conformance._trial import (
    LARGEST_RESPONSE,
    SECRET,
    Trial,
    place,
)
from stepfold.values import ModelErrorReason

_SUBSTITUTES: Final[tuple[object, ...]] = (None, 0, "", "\ud800", [], {}, [None], True)
_MOST_SUBSTITUTIONS: Final = 1_000
_GARBLED_BYTES: Final = 60
_SECOND: Final = 1_000_000_000
_REFUSALS: Final = (
    *((status, False) for status in (400, 401, 403, 404, 422)),
    *((status, True) for status in (429, 500, 502, 503, 529)),
)
_STATUS_BODIES: Final = (
    b"",
    b"null",
    b"Bad Gateway",
    b"<html><title>Sorry</title></html>",
    b'{"error": "no"}',
    b'{"error": {"message": "no", "type": 7, "code": []}}',
    b'[{"error": {"message": "no"}}]',
    b"\xff\xfe",
    b'{"message": "no"',
)


# --- garbled ----------------------------------------------------------------------------------


async def garbled_streams_end(trial: Trial, sample: ProviderSample) -> None:
    """Whatever comes, a reply or a typed error comes of it, and nothing else is raised."""
    for done, chunks in _garbled(trial, sample):
        heard = await trial.stream(sample, chunks)
        _check_typed(
            "a garbled stream must end in a reply or a ModelError", sample, done, heard.end
        )


async def garbled_bodies_end(trial: Trial, sample: ProviderSample) -> None:
    """Whatever comes in one piece, a reply or a typed error comes of it."""
    if not sample.body:
        return
    for done, body in _substituted(sample.body, _MOST_SUBSTITUTIONS):
        asked = await trial.generate([body], status=sample.status)
        _check_typed("a garbled body must be a reply or a ModelError", sample, done, asked)
    for body in _STATUS_BODIES:
        asked = await trial.generate([body])
        _check_typed(
            "what is no reply must be a ModelError", sample, f"the body was {body!r}", asked
        )
        if not isinstance(asked, ModelErrorReason):
            broken_law(
                "what is no reply must be a ModelError",
                sample=sample.name,
                done=f"the body was {body!r}",
                expected="a typed error",
                came=asked,
            )


def _check_typed(law: str, sample: ProviderSample, done: str, came: Result) -> None:
    if isinstance(came, Broken):
        broken_law(
            law, sample=sample.name, done=done, expected="a reply or a typed error", came=came
        )


def _garbled(trial: Trial, sample: ProviderSample) -> Iterator[tuple[str, Sequence[bytes]]]:
    events = sample.events
    for number, event in enumerate(events):
        which = f"event {number + 1} of {len(events)}, {event[:60]!r},"
        rest = events[number + 1 :]
        yield f"{which} came twice", (*events[:number], event, event, *rest)
        yield f"{which} was left out", (*events[:number], *rest)
        if rest:
            yield f"{which} came after the next", (*events[:number], rest[0], event, *rest[1:])
        for done, other in _substituted(event, _MOST_SUBSTITUTIONS // len(events)):
            yield f"in {which} {done}", (*events[:number], other, *rest)
    yield "the events came in reverse", events[::-1]
    yield "the stream came twice", (*events, *events)
    yield "nothing came", ()
    data = b"".join(events)
    for point in sorted(trial.chance.choices(range(len(data)), k=_GARBLED_BYTES)):
        for byte in (b"", b"\0", b"\xff", b"\n", b'"'):
            garbled = data[:point] + byte + data[point + 1 :]
            yield f"one byte was replaced by {byte!r}: {place(data, point)}", (garbled,)


def _substituted(data: bytes, most: int) -> Iterator[tuple[str, bytes]]:
    """The bytes with one member of their JSON object replaced; evenly spread, about `most`."""
    members = list(members_of(data))
    stride = 1 + len(members) * len(_SUBSTITUTES) // (most + 1)
    number = 0
    for path, _ in members:
        for substitute in _SUBSTITUTES:
            number += 1
            if number % stride == 0:
                done = f"{name_of(path)} was {json.dumps(substitute)}"
                yield done, with_member(data, path, substitute)


# --- refused ----------------------------------------------------------------------------------


async def refusals_are_told_by_status(trial: Trial, sample: ProviderSample) -> None:
    """A refusal is a typed error with its status, and says whether to try again, and when."""
    bodies = (*_STATUS_BODIES, sample.body) if sample.status >= 400 else _STATUS_BODIES
    for status, is_retryable in _REFUSALS:
        for body in bodies:
            for how in ("generate", "stream"):
                reason = await trial.refused(how, status, body)
                done = f"{how} was answered with status {status}, retry-after: 7, and {body!r}"
                expected = f"a ModelError with status {status} and retry_after of 7 s"
                law = "a refusal must be a ModelError that says what the status says"
                if not isinstance(reason, ModelErrorReason):
                    broken_law(law, sample=sample.name, done=done, expected=expected, came=reason)
                is_told = (reason.status, reason.retry_after) == (status, 7 * _SECOND)
                if not is_told:
                    came = f"status {reason.status}, retry_after {reason.retry_after} ns"
                    broken_law(law, sample=sample.name, done=done, expected=expected, came=came)
                if body in _STATUS_BODIES and reason.is_retryable != is_retryable:
                    broken_law(
                        "a refusal must say whether the same request may succeed later",
                        sample=sample.name,
                        done=done,
                        expected=f"is_retryable={is_retryable}",
                        came=f"is_retryable={reason.is_retryable}, by its kind {reason.kind}",
                    )


# --- told secrets -----------------------------------------------------------------------------


async def secrets_stay_secret(trial: Trial, sample: ProviderSample) -> None:
    """A server that repeats the key it was given does not make an error text show it."""
    for done, chunks in _echoes(sample):
        heard = await trial.stream(sample, chunks)
        _check_secret(sample, f"in the stream, {done}", heard.end)
    for done, body in _body_echoes(sample):
        for status in (200, 401, 500):
            asked = await trial.generate([body], status=status)
            _check_secret(sample, f"with status {status}, {done}", asked)


def _check_secret(sample: ProviderSample, done: str, came: Result) -> None:
    shown = came.what if isinstance(came, Broken) else ""
    if isinstance(came, ModelErrorReason):
        shown = " ".join(filter(None, (came.message, came.code, came.request_id)))
    if SECRET in shown:
        broken_law(
            "an error must not show the key, even where the server repeats it",
            sample=sample.name,
            done=done,
            expected="a text without the key",
            came=shown,
        )


def _echoes(sample: ProviderSample) -> Iterator[tuple[str, Sequence[bytes]]]:
    key = SECRET.encode()
    for number, event in enumerate(sample.events):
        others = sample.events[:number]
        yield "the key came instead of an event", (*others, b"data: %b\n\n" % key)
        yield "the key came instead of a JSON text", (*others, b'data: {"%b\n\n' % key)
        for named, written in _with_key(event):
            yield f"{named} held the key", (*others, written)


def _body_echoes(sample: ProviderSample) -> Iterator[tuple[str, bytes]]:
    key = SECRET.encode()
    yield "the body was the key", key
    yield "the body was a text with the key", b"no such key: " + key
    yield "the body was a page with the key", b"<html><title>%b</title></html>" % key
    yield (
        "the error held the key",
        b'{"error": {"message": "bad key %b", "code": "%b"}}' % (key, key),
    )
    yield "the message held the key", b'{"message": "bad key %b"}' % key
    for named, written in _with_key(sample.body):
        yield f"{named} held the key", written


def _with_key(data: bytes) -> Iterator[tuple[str, bytes]]:
    for path, value in members_of(data):
        if isinstance(value, str):
            yield name_of(path), with_member(data, path, f"{value} {SECRET}")


# --- without an end ---------------------------------------------------------------------------


async def endless_responses_end(trial: Trial, sample: ProviderSample) -> None:
    """What never ends is given up when it is too large, and what has ended is not read on."""
    for done, chunks in _endless(sample):
        heard = await trial.stream(sample, chunks, "repeat")
        _check_bounded(trial, sample, done, heard.end, max(map(len, chunks)))
    asked = await trial.generate([b" " * 4_096], "repeat")
    _check_bounded(trial, sample, "a body of spaces had no end", asked, 4_096)
    if not isinstance(asked, ModelErrorReason):
        _check_typed("a body without an end must be a ModelError", sample, "", asked)


def _endless(sample: ProviderSample) -> Iterator[tuple[str, Sequence[bytes]]]:
    events = sample.events
    for number, event in enumerate(events):
        many = event * (1 + 4_096 // len(event))
        which = f"event {number + 1} of {len(events)}, {event[:60]!r},"
        yield f"{which} came over and over", (*events[:number], many)
    yield "an event had no end", (*events[:1], b"data: ", b"x" * 4_096)
    yield "a line of JSON had no end", (*events[:1], b'data: {"a": "', b"x" * 4_096)
    yield "comments had no end", (*events[:1], b": ping\n\n" * 512)
    yield "zeros had no end", (b"\0" * 4_096,)


def _check_bounded(
    trial: Trial, sample: ProviderSample, done: str, came: Result, largest: int
) -> None:
    bound = LARGEST_RESPONSE + 2 * largest
    if trial.server.pulled > bound:
        broken_law(
            "a model must stop reading at limits.response_bytes",
            sample=sample.name,
            done=done,
            expected=f"at most {bound} bytes to be read",
            came=f"{trial.server.pulled} bytes were read",
        )
    _check_typed("a response without an end must be given up", sample, done, came)
