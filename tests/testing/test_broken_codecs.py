"""`laws.value_survives` finds what a codec of somebody's own may do wrong, and nothing in ours."""

import itertools
import json
from collections.abc import Callable
from typing import TypeVar, cast

import pytest
from attrs import evolve, frozen
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from typing_extensions import TypeForm

from stepfold.codec import decode, encode
from stepfold.loop.events import Event
from stepfold.testing import laws
from stepfold.testing.strategies import values as drawn
from stepfold.values import Message, Outcome, Success, Usage

T = TypeVar("T")
Tree = dict[str, object]

NUMBERS = itertools.count()
Kind = Event | Message | Usage
VALUES: st.SearchStrategy[Kind] = drawn.usages() | drawn.messages() | drawn.run_events()


@frozen
class Codec:
    """What writes and reads; ours where nothing else is said."""

    write: laws.Writer = encode
    read: laws.Reader = decode


def changed(tree: object, change: Callable[[Tree], Tree]) -> object:
    """A document whose objects are changed, the innermost first."""
    if isinstance(tree, dict):
        return change({key: changed(item, change) for key, item in tree.items()})
    if isinstance(tree, list):
        return [changed(item, change) for item in tree]
    return tree


def writing(change: Callable[[Tree], Tree]) -> Codec:
    def write(value: object, /) -> bytes:
        tree = changed(json.loads(encode(value)), change)
        return json.dumps(tree, ensure_ascii=False).encode("utf-8", "surrogatepass")

    return Codec(write=write)


def _without_zeros(tree: Tree) -> Tree:
    """Leaves out what is false, so that 0 tokens are unknown tokens."""
    return {key: item for key, item in tree.items() if item or key in {"content", "v"}}


def _as_text(tree: Tree) -> Tree:
    """Makes text of what it does not know, as `default=str` does."""
    return {
        key: str(item) if isinstance(item, bool) and key != "approved" else item
        for key, item in tree.items()
    }


def _as_floats(tree: Tree) -> Tree:
    return {
        key: float(item) if isinstance(item, int) and key == "at" else item
        for key, item in tree.items()
    }


def _sorted_json(tree: Tree) -> Tree:
    """Reads JSON that is kept as text, and writes it anew."""
    found = dict(tree)
    for key in ("provider_options", "value", "input"):
        text = found.get(key)
        if isinstance(text, str):
            try:
                found[key] = json.dumps(json.loads(text), sort_keys=True)
            except ValueError:
                continue
    return found


def _short(tree: Tree) -> Tree:
    """Cuts long text."""
    return {
        key: item[:3] if isinstance(item, str) and key in {"text", "message"} else item
        for key, item in tree.items()
    }


def _without_options(tree: Tree) -> Tree:
    """Forgets what the provider wants to see again."""
    return {key: item for key, item in tree.items() if key != "provider_options"}


def _stamped(value: object, /) -> bytes:
    """Says when it was written."""
    return encode(value) + b" " * (next(NUMBERS) % 7)


def _replacing(value: object, /) -> bytes:
    """Writes whole text only: half a surrogate pair becomes a question mark."""
    text = encode(value).decode()
    return text.replace('{"type":"wtf-8","base64":"7aCA"}', '"?"').encode()


def _reviving_nothing(data: bytes, kind: TypeForm[T], /) -> Outcome[T, object]:
    """Reads as nothing what it cannot read, here anything with a list of two."""
    if b"},{" in data:
        return Success(cast("T", None))
    return decode(data, kind)


def _coercing(data: bytes, kind: TypeForm[T], /) -> Outcome[T, object]:
    """Takes any text for true."""
    text = data.replace(b":false", b":true")
    return decode(text, kind)


def _sharing(data: bytes, kind: TypeForm[T], /) -> Outcome[T, object]:
    """Gives the first value that had as many bytes."""
    return cast("Outcome[T, object]", _SEEN.setdefault((len(data), str(kind)), decode(data, kind)))


_SEEN: dict[tuple[int, str], object] = {}

BROKEN: dict[str, Codec] = {
    "leaves out zeros": writing(_without_zeros),
    "makes text of flags": writing(_as_text),
    "makes floats of integers": writing(_as_floats),
    "sorts the keys of JSON that is text": writing(_sorted_json),
    "cuts long text": writing(_short),
    "forgets options": writing(_without_options),
    "writes one value in two forms": Codec(write=_stamped),
    "reads nothing where it fails": Codec(read=_reviving_nothing),
    "takes false for true": Codec(read=_coercing),
    "mixes values up": Codec(read=_sharing),
}
SOUND = {"ours": Codec(), "as trees": writing(lambda tree: tree)}


def tried(codec: Codec) -> None:
    @settings(
        max_examples=1_000,  # a flag is raised in one value of fourteen
        deadline=None,
        database=None,
        derandomize=True,
        phases=(Phase.generate,),
    )
    @given(VALUES)
    def survives(value: Kind) -> None:
        laws.value_survives(value, type(value), write=codec.write, read=codec.read)

    survives()


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_codec_is_found(fault: str) -> None:
    with pytest.raises(AssertionError, match=r"stored|cannot be read|as different bytes"):
        tried(BROKEN[fault])


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_found_in_sound_codecs(name: str) -> None:
    tried(SOUND[name])


def test_the_value_that_does_not_survive_is_told() -> None:
    codec = BROKEN["leaves out zeros"]

    with pytest.raises(AssertionError, match=r"(?s)not what it was.*None.*input_tokens=0"):
        laws.value_survives(
            evolve(Usage(), input_tokens=0), Usage, write=codec.write, read=codec.read
        )
