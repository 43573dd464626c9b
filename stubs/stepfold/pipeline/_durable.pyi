from collections.abc import Mapping
from typing import TypeAlias
from stepfold.pipeline._ends import OpenInput

Answers: TypeAlias = Mapping[str, object] | Mapping[OpenInput, object]
