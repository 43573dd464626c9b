"""The one place where exceptions of HTTP clients become ours.

They are known by name, since httpx and httpx2 give the same names to different classes and
neither is imported here. The cause is cut off (`raise … from None`): its frames and texts can
hold headers, and so keys; the new text names the class and repeats what is harmless.
"""

from typing import cast
from urllib.parse import urlsplit

from stepfold.transport._messages import HttpLimits, HttpRequest
from stepfold.transport._secrets import open_url, without_secrets
from stepfold.values import ModelError, ModelErrorKind, ModelErrorReason, UsageError

_LIBRARIES = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "anyio", "trio", "builtins"})

# By the first name found on the way from the exception's class to its bases.
_KINDS: dict[str, ModelErrorKind] = {
    "TimeoutException": "timeout",
    "TimeoutError": "timeout",
    "RemoteProtocolError": "protocol",
    "DecodingError": "protocol",
    "LocalProtocolError": "bad-request",
    "UnsupportedProtocol": "bad-request",
    "TransportError": "connection",
    "NetworkError": "connection",
    "ProxyError": "connection",
    "BrokenResourceError": "connection",
    "ClosedResourceError": "connection",
    "EndOfStream": "connection",
    "OSError": "connection",
}


def fault_of(
    error: Exception, request: HttpRequest, limits: HttpLimits
) -> ModelError | UsageError | None:
    """What to raise for an exception of an HTTP client; `None` if it is none."""
    packed = _packed(error)
    if packed is not None:  # a client that connects in a task group of its own
        return packed if isinstance(packed, UsageError) else fault_of(packed, request, limits)
    for cls in type(error).__mro__:
        if cls.__module__.partition(".")[0] not in _LIBRARIES:
            continue
        if cls.__name__ == "InvalidURL":
            return UsageError(f"{open_url(request.url)!r} is not an address that can be reached")
        kind = _KINDS.get(cls.__name__)
        if kind is not None:
            return ModelError(ModelErrorReason(kind, _message(error, kind, request, limits)))
    return None


def _packed(error: Exception) -> Exception | None:
    """The exception in a group of one."""
    if not isinstance(error, ExceptionGroup):
        return None
    held = cast("ExceptionGroup[Exception]", error).exceptions
    return held[0] if len(held) == 1 else None


def _message(
    error: Exception, kind: ModelErrorKind, request: HttpRequest, limits: HttpLimits
) -> str:
    name = type(error).__name__
    host = urlsplit(request.url).hostname or "the server"
    if kind == "timeout":
        seconds = limits.connect if name == "ConnectTimeout" else limits.read
        return f"{host} was silent for too long ({name}; the limit is {seconds:g} s)"
    if kind == "bad-request":  # such texts repeat what was to be sent
        return f"the request to {host} cannot be sent ({name})"
    text = without_secrets(str(error)) or "the connection broke"
    return f"{host}: {text} ({name})"


def too_large(request: HttpRequest, limits: HttpLimits) -> ModelError:
    """What to raise for a response that exceeds the limit."""
    host = urlsplit(request.url).hostname or "the server"
    message = f"the response of {host} is longer than {limits.response_bytes} bytes"
    return ModelError(ModelErrorReason("protocol", message))
