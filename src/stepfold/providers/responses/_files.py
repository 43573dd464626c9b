"""Files in a prompt: which ones the Responses protocol can say, and how."""

from base64 import b64encode

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


def part_of_file(
    file: File, provider: str, warnings: list[ModelWarning]
) -> dict[str, object] | None:
    """A file as a content part; `None`, with a warning, if there is none."""
    part = _part(file, provider)
    if part is None:
        warnings.append(
            ModelWarning(
                "unsupported",
                f"file part of type {file.media_type}",
                "it was left out of the prompt: this protocol takes images, documents and text, "
                "and neither sound nor video",
            )
        )
        return None
    detail = options_of(file.provider_options, provider).get("image_detail")
    if detail is not None and part["type"] == "input_image":
        part["detail"] = detail
    return part


def _part(file: File, provider: str) -> dict[str, object] | None:
    media_type = file.media_type.lower()
    top_level = media_type.partition("/")[0]
    match file.data:
        case FileReference(reference):
            known = reference.value
            held = known.get(provider) if isinstance(known, JsonObject) else None
            if not isinstance(held, str):
                return None
            return {"type": _kind(top_level), "file_id": held}
        case FileUrl(url):
            if top_level == "image" or url.startswith("data:image/"):
                return {"type": "input_image", "image_url": url}
            if top_level in {"audio", "video"}:
                return None
            return {"type": "input_file", "file_url": url}
        case FileText(text):
            return {"type": "input_text", "text": text}
        case FileBytes(data):
            return _part_of_bytes(file, media_type, data)


def _kind(top_level: str) -> str:
    return "input_image" if top_level == "image" else "input_file"


def _part_of_bytes(file: File, media_type: str, data: bytes) -> dict[str, object] | None:
    top_level = media_type.partition("/")[0]
    if top_level == "image":
        return {"type": "input_image", "image_url": _data_url(_image_type(media_type, data), data)}
    if top_level == "text":
        return {"type": "input_text", "text": data.decode("utf-8", "replace")}
    if top_level in {"audio", "video"}:
        return None
    suffix = ".pdf" if media_type == "application/pdf" else ""
    name = file.filename or f"document{suffix}"
    return {"type": "input_file", "filename": name, "file_data": _data_url(media_type, data)}


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(data).decode()}"


def _image_type(declared: str, data: bytes) -> str:
    """The type that the content shows; else the one that was said."""
    shown = media_type_of(data)
    if shown is not None and shown.startswith("image/"):
        return shown
    return declared if "/" in declared and not declared.endswith("/*") else "image/jpeg"
