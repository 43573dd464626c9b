"""Amazon's Signature Version 4: a pure function of a request, credentials and an instant.

What is signed: the method, the path, the query, the body, and of the headers `host`,
`content-type` and all that begin with `x-amz-`. A client may add others on the way.
"""

import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from typing import final
from urllib.parse import quote, urlsplit

from attrs import evolve, field, frozen

from stepfold.transport import HttpRequest
from stepfold.values import Instant

_ALGORITHM = "AWS4-HMAC-SHA256"
_SECOND = 1_000_000_000


@final
@frozen(order=False)
class AwsCredentials:
    """Keys of an account at AWS; temporary ones have a session token. The `repr` hides them."""

    access_key_id: str
    secret_access_key: str = field(repr=lambda _: "'…'")
    session_token: str | None = field(default=None, repr=lambda _: "…", kw_only=True)


@final
@frozen(order=False)
class AwsSigner:
    """Signs requests to one service in one region; a `SignRequest`.

    `credentials` are asked for anew for each request where they are a function, such as one that
    refreshes them; it must not wait.
    """

    credentials: AwsCredentials | Callable[[], AwsCredentials] = field(repr=False)
    region: str
    service: str = "bedrock"

    def __call__(self, request: HttpRequest, now: Instant, /) -> HttpRequest:
        """The request with a signature that is good for some minutes around `now`."""
        known = self.credentials
        credentials = known if isinstance(known, AwsCredentials) else known()
        return signed(request, credentials, region=self.region, service=self.service, now=now)


def signed(
    request: HttpRequest,
    credentials: AwsCredentials,
    *,
    region: str,
    service: str,
    now: Instant,
) -> HttpRequest:
    """The request with the headers `x-amz-date`, `x-amz-security-token` and `authorization`.

    Those that it had of these names are replaced.
    """
    moment = datetime.fromtimestamp(now // _SECOND, UTC).strftime("%Y%m%dT%H%M%SZ")
    own = [("x-amz-date", moment)]
    if credentials.session_token:
        own.append(("x-amz-security-token", credentials.session_token))
    replaced = {"authorization", "x-amz-date", "x-amz-security-token"}
    headers = [(name, value) for name, value in request.headers if name.lower() not in replaced]
    headers += own
    names, canonical = _canonical(request, headers)
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    text = "\n".join((_ALGORITHM, moment, scope, sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{credentials.secret_access_key}".encode()
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    authorization = (
        f"{_ALGORITHM} Credential={credentials.access_key_id}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    return evolve(request, headers=(*headers, ("authorization", authorization)))


def _canonical(request: HttpRequest, headers: list[tuple[str, str]]) -> tuple[str, str]:
    """The names of the headers that are signed, and the request as it is signed."""
    address = urlsplit(request.url)
    said: dict[str, list[str]] = {"host": [_host(request.url)]}
    for name, value in headers:
        lowered = name.lower()
        if lowered == "content-type" or lowered.startswith("x-amz-"):
            said.setdefault(lowered, []).append(" ".join(value.split()))
    names = ";".join(sorted(said))
    query = sorted(pair.partition("=") for pair in address.query.split("&") if pair)
    lines = (
        request.method.upper(),
        # What stands in the path is escaped once more: no service but S3 takes it as it is.
        quote(_normal(address.path)),
        "&".join(f"{name}={value}" for name, _, value in query),
        *(f"{name}:{','.join(said[name])}" for name in sorted(said)),
        "",
        names,
        sha256(request.body).hexdigest(),
    )
    return names, "\n".join(lines)


def _host(url: str) -> str:
    """The host as clients say it: with its port, unless that is the one of the scheme."""
    address = urlsplit(url)
    host = address.netloc.rpartition("@")[2].lower()
    usual = ":443" if address.scheme == "https" else ":80"
    return host.removesuffix(usual)


def _normal(path: str) -> str:
    """The path without empty steps and those of dots."""
    steps: list[str] = []
    for step in path.split("/"):
        if step == "..":
            del steps[-1:]
        elif step not in {"", "."}:
            steps.append(step)
    ends = "/" if steps and path.endswith("/") else ""
    return f"/{'/'.join(steps)}{ends}"
