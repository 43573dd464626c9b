"""Files in a prompt: which ones Messages can say, and how."""

from base64 import b64encode
from urllib.parse import unquote

from stepfold.providers._wire import options_of
from stepfold.values import (
    File,
    FileBytes,
    FileReference,
    FileText,
    FileUrl,
    JsonObject,
    ModelWarning,
    media_type_of,
)

_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_PDF = "application/pdf"


def block_of_file(
    file: File, provider: str, warnings: list[ModelWarning]
) -> dict[str, object] | None:
    """A file as a content block; `None`, with a warning, if there is none.

    What `provider_options` hold for a file (`cache_control`, `citations`, `title`, `context`) is
    added to the block.
    """
    block = _block(file, provider)
    if block is None:
        warnings.append(
            ModelWarning(
                "unsupported",
                f"file part of type {file.media_type}",
                "it was left out of the prompt: Messages take PNG, JPEG, GIF and WebP images, "
                "PDF and text, and only images and PDF by their address",
            )
        )
        return None
    if file.filename is not None and block["type"] == "document":
        block["title"] = file.filename
    return {**block, **options_of(file.provider_options, provider)}


def _block(file: File, provider: str) -> dict[str, object] | None:
    media_type = file.media_type.lower()
    is_image = media_type.partition("/")[0] == "image"
    match file.data:
        case FileReference(reference):
            known = reference.value
            held = known.get(provider) if isinstance(known, JsonObject) else None
            source = {"type": "file", "file_id": held}
            if not isinstance(held, str):
                return None
            return {"type": "image" if is_image else "document", "source": source}
        case FileUrl(url):
            if url.startswith("data:"):
                return _block_of_data_url(url, media_type)
            if not (is_image or media_type == _PDF):
                return None
            source = {"type": "url", "url": url}
            return {"type": "image" if is_image else "document", "source": source}
        case FileText(text):
            return _block_of_bytes(media_type, b64encode(text.encode("utf-8", "replace")), text)
        case FileBytes(data):
            shown = _image_type(data) if is_image else None
            text = data.decode("utf-8", "replace") if _is_text(media_type) else ""
            return _block_of_bytes(shown or media_type, b64encode(data), text)


def _block_of_data_url(url: str, media_type: str) -> dict[str, object] | None:
    head, comma, data = url.removeprefix("data:").partition(",")
    if not comma or not head.endswith(";base64"):
        return None
    named = head.removesuffix(";base64").partition(";")[0].lower() or media_type
    return None if _is_text(named) else _block_of_bytes(named, unquote(data).encode(), "")


def _block_of_bytes(media_type: str, encoded: bytes, text: str) -> dict[str, object] | None:
    """A block with this content, in base64 or, where that is what the type holds, as text."""
    if media_type in _IMAGE_TYPES or media_type == _PDF:
        source = {
            "type": "base64",
            "media_type": media_type,
            "data": encoded.decode("ascii", "replace"),
        }
        return {"type": "document" if media_type == _PDF else "image", "source": source}
    if _is_text(media_type):
        source = {"type": "text", "media_type": "text/plain", "data": text}
        return {"type": "document", "source": source}
    return None


def _is_text(media_type: str) -> bool:
    return media_type.partition("/")[0] == "text" or media_type == "application/json"


def _image_type(data: bytes) -> str | None:
    """The type of image that the content shows, whatever was said."""
    shown = media_type_of(data)
    return shown if shown is not None and shown.startswith("image/") else None
