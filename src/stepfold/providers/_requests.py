"""What the requests of all protocols have in common."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from stepfold.ports import EmbeddingRequest, RerankingRequest
from stepfold.providers._endpoint import Dialect, Endpoint
from stepfold.providers._wire import Fragment, options_of, to_wire
from stepfold.values import JsonValue, ModelRequest, UsageError

AnyRequest: TypeAlias = ModelRequest | EmbeddingRequest | RerankingRequest
"""What a model of any kind is asked."""


def given_options(
    request: AnyRequest, provider: str, ours: AbstractSet[str]
) -> dict[str, JsonValue]:
    """The options of a request for one provider, to take from.

    Raises:
        UsageError: they are no object, or would set what the request itself says.
    """
    given = dict(options_of(request.provider_options, provider))
    if not ours.isdisjoint(given):
        raise UsageError(
            f"provider_options cannot set {' or '.join(sorted(ours & given.keys()))}: "
            f"that is for the request to say"
        )
    return given


def request_headers(
    request: AnyRequest,
    endpoint: Endpoint[Dialect],
    *,
    stream: bool = False,
    accept: str | None = None,
) -> dict[str, str]:
    """The headers of a request; the later of two of one name wins."""
    headers = {
        "content-type": "application/json",
        "accept": accept or ("text/event-stream" if stream else "application/json"),
        "user-agent": "stepfold",
    }
    for name, value in (*endpoint.headers, *request.headers):
        headers[name.lower()] = value
    return headers


def request_body(
    lists: Sequence[tuple[str, Sequence[Fragment]]], rest: Mapping[str, object]
) -> bytes:
    """A JSON object of lists of fragments, and then of whatever else there is.

    A list without a fragment that says anything is left out, unless it is the first.

    Raises:
        UsageError: something has no JSON form.
    """
    members: list[bytes] = []
    for name, fragments in lists:
        said = b",".join(part.data for part in fragments if part.data)
        if said or not members:
            members.append(b'"%b":[%b]' % (name.encode(), said))
    if rest:
        members.append(to_wire(rest)[1:-1])
    return b"{" + b",".join(members) + b"}"
