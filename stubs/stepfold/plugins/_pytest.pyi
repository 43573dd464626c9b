from collections.abc import Sequence
from typing import Protocol
from stepfold.testing import Scripted, ScriptedModel

class MakeScriptedModel(Protocol):
    def __call__(
        self, replies: "Sequence[Scripted]", /, *, chunk_size: int | None = None
    ) -> "ScriptedModel": ...
