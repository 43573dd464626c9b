"""Values in few words, for paths that people read: what a field holds by default is left out."""

from collections.abc import Mapping
from typing import cast

import attrs

_LONGEST = 240


def shown(value: object) -> str:
    """A value of attrs and what it holds, without defaults, cut to a readable length."""
    text = _text(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _text(value: object) -> str:
    if isinstance(value, tuple):
        items = [_text(item) for item in cast("tuple[object, ...]", value)]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    kind = type(value)
    if issubclass(kind, Mapping) or not attrs.has(kind):
        return repr(value)
    given = [(it, getattr(value, it.name)) for it in attrs.fields(kind) if it.repr]
    told = [f"{it.alias or it.name}={_text(held)}" for it, held in given if held != it.default]
    return f"{kind.__name__}({', '.join(told)})"
