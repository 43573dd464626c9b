from collections.abc import Callable
from typing import final
from attrs import frozen
from stepfold.ports import LanguageModel

@final
@frozen(order=False)
class ProviderEntry:
    name: str
    summary: str
    make: Callable[[str], LanguageModel]

PROVIDERS: tuple[ProviderEntry, ...] = ...

def resolve_model(name: str) -> LanguageModel: ...
