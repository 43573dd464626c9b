"""Files as parts of Google's contents."""

from base64 import b64encode
from urllib.parse import unquote_to_bytes

from stepfold.providers._wire import options_of
from stepfold.values import (
    File,
    FileBytes,
    FileReference,
    FileText,
    FileUrl,
    JsonObject,
    ModelWarning,
    ReasoningFile,
)


def part_of_file(
    file: File | ReasoningFile, provider: str, warnings: list[ModelWarning]
) -> dict[str, object] | None:
    """A file as a part; `None`, with a warning, if there is none.

    A reference is to a file of the Files API (`fileUri`); an address is given as it is, which
    Google fetches for YouTube, its own storage and, from Gemini 3, any public page. What
    `provider_options` hold for a file (`videoMetadata`, `mediaResolution`) is added to the part.
    """
    options = options_of(file.provider_options, provider)
    extra = {name: value for name, value in options.items() if name != "thought_signature"}
    part = _part(file, provider)
    if part is None:
        warnings.append(
            ModelWarning(
                "unsupported",
                f"file part of type {file.media_type}",
                "it was left out of the prompt: the reference is to another provider",
            )
        )
        return None
    return {**part, **extra}


def _part(file: File | ReasoningFile, provider: str) -> dict[str, object] | None:
    match file.data:
        case FileReference(reference):
            known = reference.value
            held = known.get(provider) if isinstance(known, JsonObject) else None
            if not isinstance(held, str):
                return None
            return {"fileData": {"mimeType": _full_type(file.media_type), "fileUri": held}}
        case FileUrl(url):
            if url.startswith("data:"):
                return _part_of_data_url(url, file.media_type)
            return {"fileData": {"mimeType": _full_type(file.media_type), "fileUri": url}}
        case FileText(text):
            return _inline(file.media_type, text.encode("utf-8", "replace"))
        case FileBytes(data):
            return _inline(file.media_type, data)


def _part_of_data_url(url: str, media_type: str) -> dict[str, object] | None:
    head, comma, data = url.removeprefix("data:").partition(",")
    if not comma:
        return None
    named = head.removesuffix(";base64").partition(";")[0] or media_type
    if head.endswith(";base64"):
        return {"inlineData": {"mimeType": _full_type(named), "data": data}}
    return _inline(named, unquote_to_bytes(data))


def _inline(media_type: str, data: bytes) -> dict[str, object]:
    encoded = b64encode(data).decode("ascii")
    return {"inlineData": {"mimeType": _full_type(media_type), "data": encoded}}


def _full_type(media_type: str) -> str:
    """An IANA type; of half a type, the one that is most usual."""
    usual = {"image": "image/png", "audio": "audio/mpeg", "video": "video/mp4"}
    kind, _, rest = media_type.lower().partition("/")
    return media_type.lower() if rest and rest != "*" else usual.get(kind, f"{kind}/plain")
