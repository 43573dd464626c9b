"""What the replies of all protocols have in common."""

from stepfold.providers._failures import excerpt
from stepfold.providers._json import count_of, is_object, read_json
from stepfold.providers._wire import to_wire
from stepfold.values import (
    Failure,
    Instant,
    JsonText,
    ModelErrorReason,
    Outcome,
    Success,
    UsageError,
)

# Said about this one exchange by the way it went, not by the model.
_HEADERS_LEFT_OUT = frozenset(
    {"alt-svc", "connection", "content-encoding", "content-length", "content-type", "date"}
    | {"keep-alive", "server", "set-cookie", "strict-transport-security", "transfer-encoding"}
    | {"vary", "cache-control", "x-accel-buffering"}
)


def violation(message: str) -> ModelErrorReason:
    """A reply that is none."""
    return ModelErrorReason("protocol", message)


def reply_object(
    body: bytes, secrets: tuple[str, ...]
) -> Outcome[dict[str, object], ModelErrorReason]:
    """The JSON object that is the body of a reply in one piece; an error shows no secret."""
    text = body.decode("utf-8", "replace").strip()
    is_json, value = read_json(text)
    if is_json and is_object(value):
        return Success(value)
    what = f"what is not a JSON object: {excerpt(text, secrets)!r}" if text else "an empty body"
    return Failure(violation(f"the server answered with {what}"))


def kept_json(value: object) -> JsonText | None:
    """What `json` has parsed as a value to keep; `None` for numbers beyond all bounds."""
    try:
        return JsonText(to_wire(value).decode())
    except (UsageError, RecursionError):
        return None


def unused_call_id(given: str | None, used: set[str]) -> str:
    """The id of a call, or one of our own where it is blank or was used in this reply."""
    call_id = given if given and given.strip() and given not in used else f"call-{len(used)}"
    while call_id in used:
        call_id += "'"
    used.add(call_id)
    return call_id


def shown_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The headers that say something of the reply: ids, versions, limits that are left."""
    return tuple((name, value) for name, value in headers if name not in _HEADERS_LEFT_OUT)


def instant_of(created: object) -> Instant | None:
    """Seconds since 1970, as an instant."""
    seconds = int(created) if isinstance(created, float) and abs(created) < 1e12 else created
    count = count_of(seconds)
    return None if count is None else count * 1_000_000_000
