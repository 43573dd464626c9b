"""What a request asks, in a form that is the same in every run: its standard form and its digest.

Left out is what differs from run to run and what may be secret; see `standard_form`.
"""

import hashlib
import json
import re
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Final, Protocol, cast

import attrs
from attrs import evolve

from stepfold.codec import encode
from stepfold.transport import without_secrets
from stepfold.values import FileBytes, FileUrl, JsonText, ModelRequest, ProviderTool

_HIDDEN: Final = "[hidden]"
_SECRET_NAMES: Final = re.compile(
    r"(?i)authorization|secret|password|credential|headers|api[-_]?key|(^|[-_])token$"
)
_SHORT: Final = 80
_IDS: Final = {"tool_call_id": "call", "approval_id": "approval"}


def fingerprint_of(request: ModelRequest) -> str:
    """The digest of what a request asks: SHA-256 of its `standard_form`, in hexadecimal.

    It is made of the prompt, the instructions, the tools, the tool choice, the output that is
    wanted, the settings and the provider's options; equal in every process, run, time and seed.
    """
    return hashlib.sha256(encode(standard_form(request))).hexdigest()


def standard_form(request: ModelRequest) -> ModelRequest:
    """A request without what differs from run to run, and without secrets.

    Its key and its headers are left out. Ids of calls and of approvals are counted in the order
    of the messages, and signatures are no more than noted. JSON documents have sorted keys and no
    white space. Longer files are their SHA-256. What has the shape of a key is hidden everywhere,
    in options and provider tools also what is named like one, in addresses of files user and query.

    The standard form of a standard form is itself.
    """
    options = request.provider_options
    masked = evolve(
        request,
        key="",
        headers=(),
        provider_tools=tuple(map(_without_credentials, request.provider_tools)),
        provider_options=None if options is None else _masked(options),
    )
    return cast("ModelRequest", _standard(masked, {name: {} for name in _IDS}))


def canonical_text(text: str) -> str:
    """A JSON document with sorted keys and no white space; any other text as it is."""
    try:
        return JsonText(text).canonical()
    except (ValueError, RecursionError):  # what a model wrote need be no JSON
        return text


def _without_credentials(tool: ProviderTool) -> ProviderTool:
    return evolve(tool, args=_masked(tool.args))


def _masked(document: JsonText) -> JsonText:
    """A document in which the values of members that are named like secrets are hidden."""
    try:
        return JsonText(json.dumps(_without_named(json.loads(document.text)), ensure_ascii=False))
    except (ValueError, RecursionError):
        return JsonText(json.dumps(_HIDDEN))  # no JSON: who knows what it is


def _without_named(value: object) -> object:
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {
            name: _HIDDEN if _SECRET_NAMES.search(name) else _without_named(inner)
            for name, inner in members.items()
        }
    if isinstance(value, list):
        return [_without_named(inner) for inner in cast("list[object]", value)]
    return value


def _open_address(url: str) -> str:
    """An address without user and query, which can be signed."""
    if not url.lower().startswith(("http://", "https://")):
        return url
    address = re.sub(r"//[^/?#]*@", f"//{_HIDDEN}@", url)
    address, query, _ = address.partition("?")
    return f"{address}?{_HIDDEN}" if query else address


# --- the walk ---------------------------------------------------------------------------------

_Ids = Mapping[str, dict[str, str]]


class _Make(Protocol):
    def __call__(self, **members: object) -> object: ...


@cache
def _members_of(kind: Hashable) -> Sequence[tuple[str, str]]:
    """The members of a class of ours that make a value of it, and how they are called there."""
    fields = attrs.fields(cast("type[attrs.AttrsInstance]", kind))
    return [(one.name, one.alias or one.name) for one in fields if one.init]


def _standard(value: object, ids: _Ids) -> object:
    match value:
        case str():
            return without_secrets(value)
        case JsonText(text):
            return JsonText(without_secrets(canonical_text(text)))
        case FileBytes(data):
            if len(data) <= _SHORT:
                return value
            return FileBytes(b"sha256:" + hashlib.sha256(data).hexdigest().encode())
        case FileUrl(url):
            return FileUrl(_open_address(url))
        case tuple():
            items = cast("tuple[object, ...]", value)
            return tuple(_standard(item, ids) for item in items)
        case _:
            return _standard_members(value, ids) if attrs.has(type(value)) else value


def _standard_members(value: object, ids: _Ids) -> object:
    members: dict[str, object] = {}
    for name, alias in _members_of(cast("Hashable", type(value))):
        member: object = getattr(value, name)
        if name in _IDS and isinstance(member, str):
            known = ids[name]
            members[alias] = known.setdefault(member, f"{_IDS[name]}-{len(known) + 1}")
        elif name == "signature" and member is not None:
            members[alias] = "signed"
        else:
            members[alias] = _standard(member, ids)
    return cast("_Make", type(value))(**members)
