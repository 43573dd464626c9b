from typing import TypeAlias

JsonTree: TypeAlias = dict[str, object]
