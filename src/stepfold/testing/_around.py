"""What a model of this room says of the model that it is put around."""

from typing import Final

from stepfold.ports import LanguageModel, SupportedUrls, supported_urls_of


class Around:
    """Bears the name of the model inside, and says of itself what that says."""

    def __init__(self, model: LanguageModel) -> None:
        self._model: Final = model

    @property
    def provider(self) -> str:
        """Who runs the model that is asked."""
        return self._model.provider

    @property
    def model_id(self) -> str:
        """What its provider calls the model that is asked."""
        return self._model.model_id

    @property
    def supported_urls(self) -> SupportedUrls | None:
        """Which addresses of files the provider fetches itself."""
        return supported_urls_of(self._model)

    @property
    def async_only(self) -> bool:
        """Whether the model needs an event loop."""
        return bool(getattr(self._model, "async_only", False))
