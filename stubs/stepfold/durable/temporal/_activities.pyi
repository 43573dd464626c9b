from collections.abc import Awaitable
from typing import Protocol
from stepfold.codec import JsonTree

class Activity(Protocol):
    def __call__(self, *given: object) -> Awaitable[JsonTree]: ...
