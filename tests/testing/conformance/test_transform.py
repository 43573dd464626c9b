"""`check_transform` finds every planted fault, and nothing in their sound twins."""

from collections.abc import Iterable

import pytest
from attrs import evolve

import stepfold as sf
from stepfold.loop.notes import RunEnded
from stepfold.testing.conformance import check_transform

Shown = Iterable[sf.RunPart | sf.Pause]


def _censored(_: sf.StreamControl) -> sf.PartTransform:
    """Looks at one delta at a time."""

    def take(part: sf.RunPart) -> Shown:
        if isinstance(part, sf.TextDelta):
            part = evolve(part, delta=part.delta.replace("secret", "******"))
        return [part]

    return take


def _holding(_: sf.StreamControl) -> sf.PartTransform:
    """Holds text until a line ends, and forgets the rest."""
    held = ""

    def take(part: sf.RunPart) -> Shown:
        nonlocal held
        if not isinstance(part, sf.TextDelta):
            return [part]
        *lines, held = (held + part.delta).split("\n")
        return [evolve(part, delta=f"{line}\n") for line in lines]

    return take


_SHARED: list[str] = []


def _sharing(_: sf.StreamControl) -> sf.PartTransform:
    """Holds the text of all streams together."""
    _SHARED.clear()

    def take(part: sf.RunPart) -> Shown:
        if isinstance(part, sf.TextDelta):
            _SHARED.append(part.delta)
            return []
        if isinstance(part, sf.TextEnd):
            text = "".join(_SHARED)
            _SHARED.clear()
            return [sf.TextDelta(part.id, text), part]
        return [part]

    return take


def _late(_: sf.StreamControl) -> sf.PartTransform:
    """Shows what it held after its block has ended."""
    held: list[sf.TextDelta] = []

    def take(part: sf.RunPart) -> Shown:
        if isinstance(part, sf.TextDelta):
            held.append(part)
            return []
        if isinstance(part, sf.TextEnd):
            shown: list[sf.RunPart] = [part, *held]
            held.clear()
            return shown
        return [part]

    return take


def _endless(_: sf.StreamControl) -> sf.PartTransform:
    """Does not show how the run ended."""
    return lambda part: [] if isinstance(part, RunEnded) else [part]


def _raising(_: sf.StreamControl) -> sf.PartTransform:
    """Takes for granted that a delta says something."""

    def take(part: sf.RunPart) -> Shown:
        if isinstance(part, sf.TextDelta) and part.delta.split()[0] == "":
            return []
        return [part]

    return take


def _failing(control: sf.StreamControl) -> sf.PartTransform:
    """Expects what is not there."""
    raise LookupError(control)


def _strange(_: sf.StreamControl) -> sf.PartTransform:
    """Gives text in the place of parts."""
    return lambda part: [part.delta] if isinstance(part, sf.TextDelta) else [part]  # type: ignore[list-item]


FAULTS: dict[str, tuple[sf.StreamTransform, str]] = {
    "looks at one delta": (_censored, "alike wherever it was cut"),
    "forgets what it holds": (_holding, "what came|alike wherever it was cut"),
    "shares what it holds": (_sharing, "depends on that stream alone"),
    "shows text after its block": (_late, "in a block that was begun and has not ended"),
    "hides the end": (_endless, "the last part that is shown is that of the run"),
    "raises for white space": (_raising, "a transform raises nothing"),
    "raises at once": (_failing, "a transform raises nothing"),
    "gives what is no part": (_strange, "gives parts of a stream, and pauses"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(fault: str) -> None:
    transform, law = FAULTS[fault]

    with pytest.raises(AssertionError, match=law):
        check_transform(transform, texts=["a secret.", "\n"], is_lossless=transform is _holding)


def _hidden(_: sf.StreamControl) -> sf.PartTransform:
    """Holds a block until it ends: a sound twin of `_censored`."""
    held = ""

    def take(part: sf.RunPart) -> Shown:
        nonlocal held
        if isinstance(part, sf.TextDelta):
            held += part.delta
            return []
        if isinstance(part, sf.TextEnd):
            text, held = held.replace("secret", "******"), ""
            return [sf.TextDelta(part.id, text), part]
        return [part]

    return take


def test_nothing_is_found_in_what_is_sound() -> None:
    check_transform(_hidden, texts=["a secret.", "\n"])


@pytest.mark.parametrize("chunking", ["word", "line"])
def test_smoothing_loses_nothing(chunking: sf.Chunking) -> None:
    check_transform(sf.smooth_stream(chunking=chunking), is_lossless=True)


def test_the_smallest_stream_is_told() -> None:
    with pytest.raises(AssertionError) as raised:
        check_transform(_censored, texts=["secret"])

    told = str(raised.value)
    assert told.startswith("_censored: a transform shows a text alike wherever it was cut\n")
    assert "'******'" in told


def test_what_is_no_transform_is_refused() -> None:
    with pytest.raises(sf.UsageError, match="expected a function of StreamControl, got 3"):
        check_transform(3)  # type: ignore[arg-type]
