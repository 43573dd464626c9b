from stepfold.ports._blocking import BLOCKING
from stepfold.ports._clock import Clock
from stepfold.ports._journal import Journal
from stepfold.ports._model import (
    LanguageModel,
    Middleware,
    ModelStream,
    compose,
    model_name,
    streamed,
)

__all__ = (
    "BLOCKING",
    "Clock",
    "Journal",
    "LanguageModel",
    "Middleware",
    "ModelStream",
    "compose",
    "model_name",
    "streamed",
)
