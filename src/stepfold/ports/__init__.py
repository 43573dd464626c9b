"""Floor 3: what the shell needs from outside, as protocols."""

from stepfold.ports._clock import (
    Clock,
)
from stepfold.ports._model import (
    LanguageModel,
    Middleware,
    ModelStream,
    compose,
    model_name,
    streamed,
)

__all__ = (
    "Clock",
    "LanguageModel",
    "Middleware",
    "ModelStream",
    "compose",
    "model_name",
    "streamed",
)
