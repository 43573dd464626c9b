from collections.abc import Mapping, Sequence
from typing import Final
from stepfold.loop import Program
from stepfold.testing.exploration._alphabet import Alphabet

_NO_ARGUMENTS: Final[Mapping[str, Sequence[object]]] = ...

def alphabet_of(
    program: Program,
    *,
    calls: int = 2,
    steps: int = 2,
    arguments: Mapping[str, Sequence[object]] = _NO_ARGUMENTS,
    invalid: bool = False,
    cut: bool = False,
    fails: bool = True,
) -> Alphabet: ...
