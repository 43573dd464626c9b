from typing import TypeAlias

Edge: TypeAlias = tuple[str, str, str]
