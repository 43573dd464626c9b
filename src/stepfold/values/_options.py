"""How `provider_options` of two levels come together: those of a call, a message, a part."""

from stepfold.values._json import JsonObject, JsonText, JsonValue


def merge_options(under: JsonText | None, over: JsonText | None) -> JsonText | None:
    """Merge objects at every depth, the keys of `under` first.

    Where both say something else than an object, arrays among them, `over` wins.
    """
    if under is None or over is None:
        return over if under is None else under
    return JsonText.of(_merged(under.value, over.value))


def _merged(under: JsonValue, over: JsonValue) -> JsonValue:
    if not isinstance(under, JsonObject) or not isinstance(over, JsonObject):
        return over
    members: dict[str, JsonValue] = dict(under)
    for key, value in over.items():
        members[key] = _merged(members[key], value) if key in members else value
    return JsonObject(members)
