from collections.abc import Callable
from typing import TypeAlias
from stepfold.schema._nodes import Node

Build: TypeAlias = Callable[[object], object]

def runs_user_code(node: Node) -> bool: ...
