from collections.abc import Callable, Mapping
from stepfold.ports import Middleware
from stepfold.values import NO_SETTINGS, CallSettings, JsonText

def default_settings(
    *,
    settings: CallSettings = NO_SETTINGS,
    headers: Mapping[str, str] | None = None,
    provider_options: Mapping[str, object] | None = None,
) -> Middleware: ...
def default_instructions(text: str, /) -> Middleware: ...
def _compact(example: JsonText) -> str: ...
def add_tool_input_examples(
    *,
    prefix: str = "Input Examples:",
    format: Callable[[JsonText], str] = _compact,
    remove: bool = True,
) -> Middleware: ...
