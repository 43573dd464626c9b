from stepfold.values import ProviderTool

__all__ = ("groq_browser_search",)

def groq_browser_search() -> ProviderTool: ...
