"""Files in a prompt: which ones chat completions can say, and how."""

from base64 import b64encode

from stepfold.providers._wire import options_of
from stepfold.providers.openai_chat._options import ChatDialect
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

_AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
}


def part_of_file(
    file: File, dialect: ChatDialect, warnings: list[ModelWarning]
) -> dict[str, object] | None:
    """A file as a content part of a user message; `None`, with a warning, if there is none."""
    part = _document(file) if dialect.document_form == "document_url" else None
    part = _part(file, dialect.provider) if part is None else part
    if part is None:
        warnings.append(
            ModelWarning(
                "unsupported",
                f"file part of type {file.media_type}",
                "it was left out of the prompt: chat completions take images, WAV and MP3 "
                "audio, PDF and text, and only images by their address",
            )
        )
        return None
    extra = dict(options_of(file.provider_options, dialect.provider))
    detail = extra.pop("image_detail", None)
    image = part.get("image_url")
    if detail is not None and isinstance(image, dict):
        part["image_url"] = {**image, "detail": detail}
    return {**part, **extra}


def _document(file: File) -> dict[str, object] | None:
    """A PDF by its address, or as one."""
    if file.media_type.lower() != "application/pdf":
        return None
    match file.data:
        case FileUrl(url):
            pass
        case FileBytes(data):
            url = _data_url("application/pdf", data)
        case _:
            return None
    named = {} if file.filename is None else {"document_name": file.filename}
    return {"type": "document_url", "document_url": url, **named}


def _part(file: File, provider: str) -> dict[str, object] | None:
    match file.data:
        case FileReference(reference):
            known = reference.value
            held = known.get(provider) if isinstance(known, JsonObject) else None
            return {"type": "file", "file": {"file_id": held}} if isinstance(held, str) else None
        case FileUrl(url):
            if file.media_type.partition("/")[0] == "image" or url.startswith("data:image/"):
                return {"type": "image_url", "image_url": {"url": url}}
            return None
        case FileText(text):
            return _part_of_bytes(file, text.encode("utf-8", "replace"))
        case FileBytes(data):
            return _part_of_bytes(file, data)


def _part_of_bytes(file: File, data: bytes) -> dict[str, object] | None:
    media_type = file.media_type.lower()
    top_level = media_type.partition("/")[0]
    if top_level == "image":
        return {"type": "image_url", "image_url": {"url": _data_url(_image_type(file, data), data)}}
    if media_type in _AUDIO_FORMATS:
        audio = {"data": b64encode(data).decode(), "format": _AUDIO_FORMATS[media_type]}
        return {"type": "input_audio", "input_audio": audio}
    if media_type == "application/pdf":
        name = file.filename or "document.pdf"
        return {
            "type": "file",
            "file": {"filename": name, "file_data": _data_url(media_type, data)},
        }
    if top_level == "text":
        return {"type": "text", "text": data.decode("utf-8", "replace")}
    return None


def _data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{b64encode(data).decode()}"


def _image_type(file: File, data: bytes) -> str:
    """The type that the content shows; else the one that was said."""
    shown = media_type_of(data)
    if shown is not None and shown.startswith("image/"):
        return shown
    declared = file.media_type.lower()
    return declared if "/" in declared and not declared.endswith("/*") else "image/jpeg"
