"""Writing JSON for a server, cheaply for a history that only grows.

Messages and tools are immutable and shared between requests, so what was made of one is
remembered for as long as it lives, by identity: nothing is hashed or compared.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Generic, TypeVar, final
from weakref import ref

from attrs import frozen
from typing_extensions import TypeIs

from stepfold.values import (
    JsonText,
    JsonValue,
    ModelWarning,
    ProviderTool,
    UsageError,
    dump_tree,
    without_lone_surrogates,
)

K = TypeVar("K")
D = TypeVar("D")

_LARGEST_REMEMBERED = 262_144
_NOTHING: dict[str, JsonValue] = {}


@final
@frozen(order=False)
class Fragment:
    """A piece of a request's JSON, and what could not be said in it."""

    data: bytes
    warnings: tuple[ModelWarning, ...] = ()


@final
class FragmentMemo(Generic[K, D]):
    """Remembers the fragments of objects while those live; large ones are made anew."""

    def __init__(self, make: Callable[[K, D], Fragment]) -> None:
        self._make = make
        self._known: dict[int, tuple[ref[K], D, Fragment]] = {}

    def __call__(self, source: K, dialect: D) -> Fragment:
        """The fragment of an object in a dialect."""
        key = id(source)
        entry = self._known.get(key)
        # An id may have passed to another object: the reference tells.
        if entry is not None:
            known_source, known_dialect, fragment = entry
            if known_source() is source and (known_dialect is dialect or known_dialect == dialect):
                return fragment
        fragment = self._make(source, dialect)
        if len(fragment.data) <= _LARGEST_REMEMBERED:
            known = self._known

            def forget(gone: ref[K]) -> None:
                stale = known.get(key)
                if stale is not None and stale[0] is gone:
                    del known[key]

            known[key] = (ref(source, forget), dialect, fragment)
        return fragment


def id_within(longest: int, call_id: str) -> str:
    """The id of a call as a server takes it: its own, or if that is too long, a digest of it."""
    if len(call_id) <= longest:
        return call_id
    return sha256(call_id.encode("utf-8", "replace")).hexdigest()[:longest]


def id_of_length(length: int, call_id: str) -> str:
    """The id of a call for a server that takes letters and digits of one length alone."""
    if len(call_id) == length and call_id.isascii() and call_id.isalnum():
        return call_id
    return sha256(call_id.encode("utf-8", "replace")).hexdigest()[:length]


def to_wire(value: object) -> bytes:
    """Encode JSON-like values, with lone surrogates, which have no UTF-8 form, replaced.

    Raises:
        UsageError: for NaN and infinities.
    """
    try:
        return dump_tree(value).encode()
    except UnicodeEncodeError:
        return dump_tree(_cleaned(value)).encode()
    except ValueError as error:
        raise UsageError(f"a value of the request has no JSON form: {error}") from None


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return without_lone_surrogates(value)
    if _is_mapping(value):
        return {without_lone_surrogates(key): _cleaned(item) for key, item in value.items()}
    if _is_sequence(value):
        return [_cleaned(item) for item in value]
    return value


def _is_mapping(value: object) -> TypeIs[Mapping[str, object]]:
    return isinstance(value, Mapping)


def _is_sequence(value: object) -> TypeIs[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def provider_tool_fragment(
    tool: ProviderTool, provider: str, own: Mapping[str, object] = _NOTHING
) -> Fragment:
    """A tool that the provider runs: its type, `own` members, and its arguments.

    One of another provider is left out, with a warning.

    Raises:
        UsageError: if its arguments are no object.
    """
    owner, _, kind = tool.id.partition(".")
    if owner != provider:
        message = f"it was left out: this is {provider}"
        return Fragment(b"", (ModelWarning("unsupported", f"provider tool {tool.id}", message),))
    args = tool.args.value
    if not isinstance(args, Mapping):
        raise UsageError(
            f"expected the args of {tool.id} to be an object, got {tool.args.text:.200}"
        )
    return Fragment(to_wire({"type": kind, **own, **args}))


def options_of(options: JsonText | None, provider: str) -> Mapping[str, JsonValue]:
    """What `provider_options` holds for one provider.

    Raises:
        UsageError: if it is not an object of objects.
    """
    if options is None:
        return _NOTHING
    document = options.value
    mine = document.get(provider, _NOTHING) if isinstance(document, Mapping) else None
    if isinstance(mine, Mapping):
        return mine
    raise UsageError(
        f"expected provider_options to be an object that holds an object under {provider!r}, "
        f"got {options.text[:200]}"
    )
