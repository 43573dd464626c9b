"""Why a provider refused, read from a status, headers and a body of any shape.

The kind of a failure comes, in this order, from
1. a code that says more than a status can (context length, content filter, quota);
2. the text, for an overlong prompt or an account without credit: many servers have no code for it;
3. the status;
4. any other code, for errors reported inside a stream, which have no status.
"""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite

from stepfold.providers._json import array_of, is_object, object_of, read_json, text_of
from stepfold.transport import HttpResponse, without_secrets
from stepfold.values import Instant, ModelErrorKind, ModelErrorReason, without_lone_surrogates

_LONGEST_MESSAGE = 2_000
_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid")
_SECOND = 1_000_000_000

# What Amazon calls its errors says more than the status does, which they share.
_AMAZON: dict[str, ModelErrorKind] = {
    "accessdeniedexception": "permission",
    "expiredtokenexception": "authentication",
    "incompletesignature": "authentication",
    "internalserverexception": "server",
    "invalidsignatureexception": "authentication",
    "missingauthenticationtokenexception": "authentication",
    "modelerrorexception": "server",
    "modelnotreadyexception": "overloaded",
    "modelstreamerrorexception": "server",
    "modeltimeoutexception": "timeout",
    "resourcenotfoundexception": "not-found",
    "servicequotaexceededexception": "quota",
    "serviceunavailableexception": "overloaded",
    "throttlingexception": "rate-limit",
    "unrecognizedclientexception": "authentication",
}
_SPECIFIC_CODES: dict[str, ModelErrorKind] = {
    **_AMAZON,
    "context_length_exceeded": "context-length",
    "context_window_exceeded": "context-length",
    "exceed_context_size_error": "context-length",
    "content_filter": "content-filter",
    "content_policy_violation": "content-filter",
    "responsibleaipolicyviolation": "content-filter",
    "insufficient_quota": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_not_active": "quota",
    "billing_error": "quota",
    "insufficient_balance": "quota",
}

_STATUSES: dict[int, ModelErrorKind] = {
    400: "bad-request",
    401: "authentication",
    402: "quota",
    403: "permission",
    404: "not-found",
    408: "timeout",
    409: "server",
    410: "not-found",
    424: "server",
    425: "overloaded",
    429: "rate-limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}

_CODES: dict[str, ModelErrorKind] = {
    "invalid_api_key": "authentication",
    "authentication_error": "authentication",
    "unauthenticated": "authentication",
    "permission_error": "permission",
    "permission_denied": "permission",
    "forbidden": "permission",
    "model_not_found": "not-found",
    "not_found_error": "not-found",
    "not_found": "not-found",
    "invalid_request_error": "bad-request",
    "bad_request": "bad-request",
    "invalid_argument": "bad-request",
    "validationexception": "bad-request",
    "rate_limit_exceeded": "rate-limit",
    "rate_limit_error": "rate-limit",
    "resource_exhausted": "rate-limit",
    "too_many_requests": "rate-limit",
    "overloaded": "overloaded",
    "overloaded_error": "overloaded",
    "engine_overloaded": "overloaded",
    "service_unavailable": "overloaded",
    "unavailable": "overloaded",
    "timeout": "timeout",
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "api_error": "server",
    "internal": "server",
    "internal_error": "server",
    "internal_server_error": "server",
    "server_error": "server",
    "failed_dependency": "server",
}

_OVERLONG = re.compile(
    r"context (?:length|window|size)|maximum context|prompt is too long|too many (?:input )?tokens"
    r"|input is too long|input tokens exceed",
    re.IGNORECASE,
)
_UNPAID = re.compile(
    r"credit balance is too low|insufficient (?:balance|credits?|funds)", re.IGNORECASE
)
_TITLE = re.compile(r"<title[^>]*>\s*(.*?)\s*</title>", re.IGNORECASE | re.DOTALL)


def reason_of_response(
    response: HttpResponse, *, now: Instant, secrets: tuple[str, ...] = ()
) -> ModelErrorReason:
    """Why a response is no reply: its status, headers and body, whatever that may be."""
    status = response.status
    text = response.body.decode("utf-8", "replace").strip()
    is_json, value = read_json(text)
    retry_after = retry_after_of(response, now)
    request_id = next(filter(None, map(response.header, _REQUEST_IDS)), None)
    # Amazon says what kind an error is beside the body; what follows a colon is an address.
    named = (response.header("x-amzn-errortype") or "").partition(":")[0] or None
    if is_json and not isinstance(value, int | float):
        reason = reason_of_error(value, status=status, code=named, secrets=secrets)
        kind, message, code = reason.kind, reason.message, reason.code
        retry_after = reason.retry_after if retry_after is None else retry_after
        request_id = request_id or reason.request_id
    else:
        kind, message, code = kind_of_status(status), _said_plainly(response, text, secrets), None
    return ModelErrorReason(
        kind, message, status=status, retry_after=retry_after, request_id=request_id, code=code
    )


def reason_of_error(
    value: object,
    *,
    status: int | None = None,
    code: str | None = None,
    secrets: tuple[str, ...] = (),
) -> ModelErrorReason:
    """Why there is no reply, from a JSON error of any of the usual shapes.

    `code` is what was said of it elsewhere.
    """
    if not is_object(value):
        value = next(iter(array_of(value)), {"error": value} if isinstance(value, str) else {})
    outer = object_of(value)
    inner = outer.get("error")
    error = inner if is_object(inner) else outer
    message = (
        text_of(error.get("message"))
        or text_of(inner)
        or text_of(outer.get("message"))
        or text_of(outer.get("Message"))
        or text_of(outer.get("detail"))
        or text_of(error.get("title"))
    )
    codes = [] if code is None else [code]
    codes += [
        word.rpartition("#")[2]
        for name in ("code", "type", "status", "__type")
        if (word := text_of(error.get(name)) or text_of(outer.get(name))) and word != "error"
    ]
    number = error.get("code")
    if status is None and isinstance(number, int) and 400 <= number < 600:
        status = number
    kind = _kind(codes, message or "", status)
    if not message:
        message = f"the server reported an error without words (status {status})"
    first = _harmless(codes[0], secrets) if codes else None
    return ModelErrorReason(
        kind,
        _harmless(message, secrets),
        status=status,
        code=first,
        retry_after=_delay_in(error.get("details")),
        request_id=text_of(outer.get("request_id")) or text_of(outer.get("generationId")),
    )


def _delay_in(details: object) -> int | None:
    """How long Google asks to wait, in nanoseconds: among the details, in seconds (`30.5s`)."""
    for detail in map(object_of, array_of(details)):
        seconds = _number((text_of(detail.get("retryDelay")) or "").removesuffix("s") or None)
        if seconds is not None:
            return int(seconds * _SECOND)
    return None


def kind_of_status(status: int) -> ModelErrorKind:
    """What a status says about a failure when nothing else does."""
    kind = _STATUSES.get(status)
    if kind is not None:
        return kind
    if status >= 500:
        return "server"
    # A redirect is not followed, and would be answered the same way again.
    return "bad-request" if status >= 300 else "protocol"


def retry_after_of(response: HttpResponse, now: Instant) -> int | None:
    """How long the server asks to wait, in nanoseconds; `now` is what a date is compared with."""
    milliseconds = _number(response.header("retry-after-ms"))
    if milliseconds is not None:
        return int(milliseconds * 1_000_000)
    given = response.header("retry-after")
    seconds = _number(given)
    if seconds is not None:
        return int(seconds * _SECOND)
    if given is None:
        return None
    try:
        date = parsedate_to_datetime(given)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return max(0, int(date.timestamp()) * _SECOND - now)
    except (ValueError, OverflowError, IndexError):
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else -1.0
    except ValueError:
        return None
    # A century is beyond what anybody waits for, and within what a date can hold.
    return number if isfinite(number) and 0 <= number < 3_155_760_000 else None


def _kind(codes: list[str], message: str, status: int | None) -> ModelErrorKind:
    words = [code.lower() for code in codes]
    for word in words:
        if word in _SPECIFIC_CODES:
            return _SPECIFIC_CODES[word]
    if status in {None, 400, 413, 422, 500} and _OVERLONG.search(message):
        return "context-length"
    if status in {None, 400, 403, 429} and _UNPAID.search(message):
        return "quota"
    if status is not None and status >= 300:
        return kind_of_status(status)
    for word in words:
        if word in _CODES:
            return _CODES[word]
    return "unknown"


def excerpt(text: str, secrets: tuple[str, ...]) -> str:
    """The beginning of what a server said, without secrets; those are hidden before it is cut."""
    return without_secrets(without_lone_surrogates(text[:_LONGEST_MESSAGE]), *secrets)[:200]


def _said_plainly(response: HttpResponse, text: str, secrets: tuple[str, ...]) -> str:
    status = response.status
    if not text:
        return f"the server answered with status {status} and an empty body"
    if 300 <= status < 400:
        return f"the server redirects (status {status}); give the address that it points to"
    if text.startswith("<") or "html" in (response.header("content-type") or ""):
        title = _TITLE.search(text)
        named = f" titled {excerpt(title[1], secrets)!r}" if title else ""
        return f"the server answered with status {status} and a web page{named} instead of JSON"
    return (
        f"the server answered with status {status} and what is not JSON: {excerpt(text, secrets)!r}"
    )


def _harmless(text: str, secrets: tuple[str, ...]) -> str:
    text = without_secrets(without_lone_surrogates(text), *secrets)
    if len(text) <= _LONGEST_MESSAGE:
        return text
    return text[:_LONGEST_MESSAGE] + " […]"
