"""Which files a provider fetches itself, by media type and address."""

import pytest

from stepfold.ports import Downloaded, SupportedUrls, supported_urls_of, supports_url
from stepfold.testing import ScriptedModel

HTTPS = ("^https://",)


@pytest.mark.parametrize(
    ("supported", "media_type", "url", "is_supported"),
    [
        ({}, "image/png", "https://example.org/a", False),
        ({"image/*": HTTPS}, "image/png", "https://example.org/a", True),
        ({"image/*": HTTPS}, "Image/PNG", "HTTPS://example.org/a", True),
        ({"IMAGE/*": HTTPS}, "image", "https://example.org/a", True),
        ({"image/*": HTTPS}, "image/png", "http://example.org/a", False),
        ({"image/*": ()}, "image/png", "https://example.org/a", False),
        ({"image/*": HTTPS}, "application/pdf", "https://example.org/a", False),
        ({"image/png": HTTPS}, "image", "https://example.org/a", False),
        ({"application/pdf": HTTPS}, "application/pdf", "https://example.org/a", True),
        ({"*": ("never", "^https://")}, "text/plain", "https://example.org/a", True),
        ({"*/*": HTTPS}, "text/plain", "https://example.org/a", True),
    ],
)
def test_a_provider_fetches_what_it_says(
    supported: SupportedUrls, media_type: str, url: str, is_supported: bool
) -> None:
    """Types may stand for many; case does not matter."""
    assert supports_url(supported, media_type, url) is is_supported


def test_a_model_may_say_nothing() -> None:
    """Then all addresses are its own business."""
    assert supported_urls_of(ScriptedModel([])) is None


def test_content_is_not_shown() -> None:
    """It may be long."""
    assert repr(Downloaded(b"hello", "text/plain")) == (
        "Downloaded(data=<5 bytes>, media_type='text/plain')"
    )
