from collections.abc import Sequence
from os import PathLike
from stepfold.codec import DecodeFault
from stepfold.testing._exchange import Exchange
from stepfold.values import Outcome

def write_script(script: Sequence[Exchange], path: str | PathLike[str]) -> None: ...
def read_script(path: str | PathLike[str]) -> Outcome[tuple[Exchange, ...], DecodeFault]: ...
