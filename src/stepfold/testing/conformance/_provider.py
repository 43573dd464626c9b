"""The check of a provider's model: all laws, without an event loop and on those installed."""

import random
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from typing import Final, TypeAlias

import anyio

from stepfold.ports import LanguageModel
from stepfold.providers import ClientOptions
from stepfold.testing.conformance._fake_server import FakeBlockingClient, FakeClient, FakeServer
from stepfold.testing.conformance._fault_laws import (
    endless_responses_end,
    garbled_bodies_end,
    garbled_streams_end,
    refusals_are_told_by_status,
    secrets_stay_secret,
)
from stepfold.testing.conformance._heard import Heard, broken_law, difference, without_event_loop
from stepfold.testing.conformance._request_laws import HELLO, requests_are_sent
from stepfold.testing.conformance._samples import ProviderSample
from stepfold.testing.conformance._stream_laws import (
    chunking_changes_nothing,
    cut_bodies_are_no_replies,
    cut_streams_are_no_replies,
    generate_is_the_folded_stream,
    samples_are_understood,
)
from stepfold.testing.conformance._trial import LARGEST_RESPONSE, SECRET, Trial
from stepfold.testing.conformance._waiting_laws import (
    leaving_early_leaves_nothing,
    silence_is_a_timeout,
)
from stepfold.transport import HttpLimits
from stepfold.values import ModelRequest, UsageError

MakeModel: TypeAlias = Callable[[ClientOptions], LanguageModel]
"""Makes a model with the key, the clients and the limits that it is given."""

_Laws: TypeAlias = Sequence[Callable[[Trial, ProviderSample], Awaitable[None]]]
_LIMITS: Final = HttpLimits(connect=0.05, read=0.05, response_bytes=LARGEST_RESPONSE)
_LARGEST_SAMPLE: Final = 16_384

_FIRST: Final[_Laws] = (samples_are_understood, generate_is_the_folded_stream)
_OF_BODIES: Final[_Laws] = (cut_bodies_are_no_replies, garbled_bodies_end)
_OF_STREAMS: Final[_Laws] = (chunking_changes_nothing, garbled_streams_end, endless_responses_end)
_OF_WAITING: Final[_Laws] = (silence_is_a_timeout, leaving_early_leaves_nothing)
_OF_FAILURES: Final[_Laws] = (refusals_are_told_by_status, secrets_stay_secret)


def check_provider(
    make: Callable[[ClientOptions], LanguageModel],
    samples: Sequence[ProviderSample],
    *,
    request: ModelRequest = HELLO,
    seed: int = 0,
) -> None:
    """Check a language model over HTTP against the laws of models.

    `make` is called with options that hold a key, an async and a sync client, and limits; the
    model has to use them. The clients answer by themselves with the `samples`, which are made
    worse in every way that networks and servers know: cut at every byte, broken off, garbled,
    doubled, out of order, refused, silent, without an end. A model keeps the laws if

    - it makes of each sample what that says, the same in one piece as part by part, however it
      is cut, without an event loop (unless it has `async_only = True`) and on asyncio and trio;
    - of everything else it makes a reply or a `ModelError`, in time and in bounded memory;
    - a cut reply is never taken for a whole one, and an error never shows the key;
    - a stream that is left or cancelled leaves nothing open.

    Call it in a test that is not async: it runs event loops of its own. It takes seconds.

    Raises:
        AssertionError: a law does not hold; the text says what was done, and what came of it.
        UsageError: there is no sample with a stream, or one over 16 KiB.
    """
    _check_samples(samples)
    server = FakeServer()
    model = make(
        {
            "api_key": SECRET,
            "client": FakeClient(server),
            "blocking_client": FakeBlockingClient(server),
            "limits": _LIMITS,
        }
    )
    by_size = sorted(samples, key=lambda sample: len(b"".join(sample.events)) + len(sample.body))
    told: dict[str, list[Heard]] = {}
    needs_loop = bool(getattr(model, "async_only", False))
    loops = ("asyncio", "trio") if find_spec("trio") is not None else ("asyncio",)
    for where in loops if needs_loop else ("no event loop", *loops):
        trial = Trial(model, server, request, random.Random(seed))  # noqa: S311 - to be repeated
        try:
            if where == "no event loop":
                told[where] = without_event_loop(_check(trial, by_size, is_first=True))
            else:
                told[where] = anyio.run(_check_in_loop, trial, by_size, tuple(told), backend=where)
            _check_equal(told, where, by_size)
        except AssertionError as error:
            raise AssertionError(f"{error}\n  on:       {where}") from None


def _check_samples(samples: Sequence[ProviderSample]) -> None:
    if not any(sample.events and not sample.is_error for sample in samples):
        raise UsageError("check_provider: expected a sample with the events of a whole reply")
    for sample in samples:
        size = max(len(b"".join(sample.events)), len(sample.body))
        if size > _LARGEST_SAMPLE:
            raise UsageError(
                f"check_provider: the sample {sample.name!r} has {size} bytes; expected at most "
                f"{_LARGEST_SAMPLE}, since it is cut at every byte"
            )


async def _check_in_loop(
    trial: Trial, samples: Sequence[ProviderSample], told: Sequence[str]
) -> list[Heard]:
    heard = await _check(trial, samples, is_first=not told)
    for sample in samples:
        if sample.events and not sample.is_error:
            await _each(_OF_WAITING, trial, sample)
    return heard


async def _check(trial: Trial, samples: Sequence[ProviderSample], *, is_first: bool) -> list[Heard]:
    """Try the laws; the long ones only where it `is_first`, since code is the same everywhere."""
    for sample in samples:
        await _each(_FIRST, trial, sample)
    streams = [sample for sample in samples if sample.events]
    plain = next(sample for sample in streams if not sample.is_error)
    await requests_are_sent(trial, plain)
    await _each(_OF_FAILURES, trial, plain)
    for sample in samples:
        if sample.is_error and is_first:
            await _each(_OF_FAILURES, trial, sample)
        if sample.body and is_first:
            await _each(_OF_BODIES, trial, sample)
        if sample.events:
            await cut_streams_are_no_replies(trial, sample, every_byte=is_first)
        if sample.events and (is_first or sample is plain):
            await _each(_OF_STREAMS, trial, sample)
    return [await trial.stream(sample, sample.events) for sample in streams]


async def _each(laws: _Laws, trial: Trial, sample: ProviderSample) -> None:
    for law in laws:
        await law(trial, sample)


def _check_equal(
    told: dict[str, list[Heard]], where: str, samples: Sequence[ProviderSample]
) -> None:
    """A model says the same wherever it runs."""
    first = next(iter(told))
    streams = [sample for sample in samples if sample.events]
    for sample, expected, came in zip(streams, told[first], told[where], strict=True):
        if came != expected:
            as_first, as_here = difference(expected, came)
            broken_law(
                "a model must say the same on every event loop, and without one",
                sample=sample.name,
                done=f"the stream was read with {first}, then with {where}",
                expected=as_first,
                came=as_here,
            )
