"""Reading JSON that a server sent: nothing is believed, and nothing raises."""

import json

from typing_extensions import TypeIs

from stepfold.values import without_lone_surrogates


def _nothing(_: str) -> None:
    """Stand for NaN and the infinities, which are no JSON and which some servers send."""


_decoder = json.JSONDecoder(parse_constant=_nothing)


def is_object(value: object) -> TypeIs[dict[str, object]]:
    """Tell whether this is a JSON object, as `json` gives it."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeIs[list[object]]:
    """Tell whether this is a JSON array, as `json` gives it."""
    return isinstance(value, list)


def object_of(value: object) -> dict[str, object]:
    """The JSON object, or an empty one in place of anything else."""
    return value if is_object(value) else {}


def array_of(value: object) -> list[object]:
    """The JSON array, or an empty one in place of anything else."""
    return value if is_array(value) else []


def text_of(value: object) -> str | None:
    """The string, without lone surrogates; `None` in place of anything else."""
    return without_lone_surrogates(value) if isinstance(value, str) else None


def count_of(value: object) -> int | None:
    """The count; `None` in place of anything that counts nothing."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value >= 0 else None


def read_json(text: str) -> tuple[bool, object]:
    """Whether the text is one JSON document, and the document."""
    try:
        value: object
        value, end = _decoder.raw_decode(text)
        if end != len(text) and text[end:].strip(" \t\r\n"):
            return False, None
    except (ValueError, RecursionError):
        # White space before a document is rare; `raw_decode` does not skip it.
        stripped = text.lstrip(" \t\r\n")
        return read_json(stripped) if len(stripped) < len(text) else (False, None)
    return True, value
