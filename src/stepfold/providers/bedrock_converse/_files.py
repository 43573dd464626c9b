"""Files in a prompt: which ones Converse can say, and how."""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePosixPath
from urllib.parse import unquote

from stepfold.providers._json import is_object
from stepfold.providers._prompts import left_out
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
    media_type_of,
)

_OFFICE = "application/vnd.openxmlformats-officedocument"
_FORMATS: dict[str, tuple[str, str]] = {
    "image/gif": ("image", "gif"),
    "image/jpeg": ("image", "jpeg"),
    "image/png": ("image", "png"),
    "image/webp": ("image", "webp"),
    "application/json": ("document", "txt"),
    "application/msword": ("document", "doc"),
    "application/pdf": ("document", "pdf"),
    "application/vnd.ms-excel": ("document", "xls"),
    f"{_OFFICE}.spreadsheetml.sheet": ("document", "xlsx"),
    f"{_OFFICE}.wordprocessingml.document": ("document", "docx"),
    "text/csv": ("document", "csv"),
    "text/html": ("document", "html"),
    "text/markdown": ("document", "md"),
    "audio/aac": ("audio", "aac"),
    "audio/flac": ("audio", "flac"),
    "audio/m4a": ("audio", "m4a"),
    "audio/mp4": ("audio", "mp4"),
    "audio/mpeg": ("audio", "mp3"),
    "audio/ogg": ("audio", "ogg"),
    "audio/opus": ("audio", "opus"),
    "audio/wav": ("audio", "wav"),
    "audio/webm": ("audio", "webm"),
    "audio/x-wav": ("audio", "wav"),
    "video/3gpp": ("video", "three_gp"),
    "video/mp4": ("video", "mp4"),
    "video/mpeg": ("video", "mpeg"),
    "video/quicktime": ("video", "mov"),
    "video/webm": ("video", "webm"),
    "video/x-flv": ("video", "flv"),
    "video/x-matroska": ("video", "mkv"),
    "video/x-ms-wmv": ("video", "wmv"),
}
_MEDIA_TYPES = {
    (kind, form): media_type
    for media_type, (kind, form) in reversed(_FORMATS.items())
    if media_type != "application/json"
}
_REFUSED_IN_NAMES = re.compile(r"[^a-zA-Z0-9\s()\[\]-]+")
_OF_THE_SOURCE = frozenset({"bucketOwner", "cachePoint"})


def blocks_of_file(
    file: File | ReasoningFile, provider: str, warnings: list[ModelWarning]
) -> list[dict[str, object]]:
    """A file as a content block; none, with a warning, if there is no place for it.

    What `provider_options` hold for a document (`citations`, `context`) is added to the block.
    """
    media_type = file.media_type.lower()
    if isinstance(file.data, FileBytes) and media_type.startswith("image/"):
        shown = media_type_of(file.data.data)
        media_type = shown if shown is not None and shown.startswith("image/") else media_type
    text = ("document", "txt") if media_type.startswith("text/") else None
    known = _FORMATS.get(media_type, text)
    options = options_of(file.provider_options, provider)
    source = _source(file, provider)
    if known is None or source is None:
        why = "Converse takes no files of this type" if known is None else "it is not in S3"
        return left_out(f"file part of type {file.media_type}", why, warnings)
    kind, form = known
    location = source.get("s3Location")
    if "bucketOwner" in options and is_object(location):
        source = {"s3Location": {**location, "bucketOwner": options["bucketOwner"]}}
    block: dict[str, object] = {"format": form, "source": source}
    if kind == "document":
        block["name"] = _document_name(file, source)
        block |= {name: value for name, value in options.items() if name not in _OF_THE_SOURCE}
    return [{kind: block}]


def media_type_of_block(kind: str, form: str) -> str:
    """The media type of a file that a model made."""
    return _MEDIA_TYPES.get((kind, form), f"{kind}/{form}")


def _source(file: File | ReasoningFile, provider: str) -> dict[str, object] | None:
    match file.data:
        case FileBytes(data):
            return {"bytes": b64encode(data).decode()}
        case FileText(text):
            return {"bytes": b64encode(text.encode("utf-8", "replace")).decode()}
        case FileReference(reference):
            known = reference.value
            held = known.get(provider) if isinstance(known, JsonObject) else None
            return {"s3Location": {"uri": held}} if isinstance(held, str) else None
        case FileUrl(url):
            if url.startswith("s3://"):
                return {"s3Location": {"uri": url}}
            head, comma, encoded = url.removeprefix("data:").partition(",")
            is_inline = url.startswith("data:") and comma and head.endswith(";base64")
            return {"bytes": unquote(encoded)} if is_inline else None


def _document_name(file: File | ReasoningFile, source: Mapping[str, object]) -> str:
    """A name that the API takes: of its own letters, and told apart from those of others.

    Where the file has none, it is made of the content, so that it stays what it was.
    """
    given = file.filename if isinstance(file, File) else None
    stem = PurePosixPath(given).stem if given else ""
    name = " ".join(_REFUSED_IN_NAMES.sub("-", stem).split())[:180]
    return name or f"document-{sha256(repr(source).encode()).hexdigest()[:8]}"
