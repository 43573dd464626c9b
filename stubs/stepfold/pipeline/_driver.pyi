from collections.abc import Callable
from typing import TypeAlias
from stepfold.pipeline.notes import Note

Tell: TypeAlias = Callable[[Note], object]
