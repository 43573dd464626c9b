"""A small model that runs in this process: no key, no network, nothing to install by hand."""

from stepfold.providers.local._model import (
    LocalModel,
    local_model,
    local_smollm2,
)

__all__ = (
    "LocalModel",
    "local_model",
    "local_smollm2",
)
