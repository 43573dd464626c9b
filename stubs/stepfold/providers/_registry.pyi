from collections.abc import Callable, Mapping
from typing import final
from attrs import field, frozen
from stepfold.ports import LanguageModel, Middleware

@final
@frozen(order=False)
class ProviderEntry:
    name: str
    summary: str
    make: Callable[[str], LanguageModel]

PROVIDERS: tuple[ProviderEntry, ...] = ...

@final
@frozen(order=False)
class ProviderRegistry:
    providers: tuple[ProviderEntry, ...] = PROVIDERS
    middleware: Middleware | None = field(default=None, kw_only=True)

    def __call__(self, name: str) -> LanguageModel: ...

def custom_provider(
    name: str,
    *,
    models: Mapping[str, str | LanguageModel | Callable[[], LanguageModel]] | None = None,
    fallback: str | ProviderEntry | None = None,
    middleware: Middleware | None = None,
    summary: str = "",
) -> ProviderEntry: ...
def resolve_model(name: str) -> LanguageModel: ...
