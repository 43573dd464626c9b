"""What must not be seen: keys in texts, addresses and headers."""

import re

_KEY = re.compile(
    r"(?i:\bbearer\s+)[^\s\"',;]+"  # an authorization header, told by somebody
    r"|\b(?:sk|pk|rk|gsk|xai|pplx|hf|ghp|key)[-_][A-Za-z0-9_\-*.]{6,}"  # the usual shapes of keys
    r"|\bAIza[A-Za-z0-9_\-]{20,}"
)
_HIDDEN = "[hidden]"
_OPEN_HEADERS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "user-agent"}
)


def without_secrets(text: str, *secrets: str) -> str:
    """Replace the given secrets, and whatever has the shape of a key, by `[hidden]`."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, _HIDDEN)
    return _KEY.sub(_HIDDEN, text)


def open_url(url: str) -> str:
    """An address as it may be shown: without user, query and fragment, which can hold keys."""
    shown = url.partition("#")[0].partition("?")[0]
    scheme, separator, rest = shown.partition("://")
    if not separator:
        return shown
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def open_headers(headers: tuple[tuple[str, str], ...]) -> str:
    """Headers as they may be shown: all names, and the values that cannot be secret."""
    shown = ", ".join(
        f"{name}: {value if name.lower() in _OPEN_HEADERS else _HIDDEN}" for name, value in headers
    )
    return f"<{shown}>"
