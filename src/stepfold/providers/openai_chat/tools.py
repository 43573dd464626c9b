"""Tools that servers of chat completions run themselves, for the list of tools of an agent."""

from stepfold.providers._own_tools import hosted_tool
from stepfold.values import ProviderTool

__all__ = ("groq_browser_search",)


def groq_browser_search() -> ProviderTool:
    """Let a model of Groq's use a browser; for the `openai/gpt-oss` models there."""
    return hosted_tool("groq.browser_search")
