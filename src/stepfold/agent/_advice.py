"""What to write in place of an option that is none here."""

from collections.abc import Iterable, Mapping

from attrs import fields

from stepfold.agent._options import AgentOptions, RunOptions, StreamOptions
from stepfold.schema import nearest
from stepfold.values import CallSettings

_PARAMETERS = frozenset(
    {
        "deps",
        "deps_type",
        "model",
        "output",
        "prepare_step",
        "repair_tool_call",
        "stop_check",
        "tool_approval",
        "tools",
    }
)
"""What an agent, a run or a function is given beside its options."""

_PROMPT = "the prompt is the first argument, without a name"
_SETTINGS: Mapping[str, str] = {
    setting.name: f"give settings=CallSettings({setting.name}=…)"
    for setting in fields(CallSettings)
}
_ELSEWHERE: Mapping[str, str] = {
    **_SETTINGS,
    "abort_signal": "give cancel=CancelHandle() to the run",
    "callbacks": "give observers=[…]",
    "context": "give runtime_context=… for data, deps=… for all else",
    "headers": "wrap the model in default_settings(headers=…)",
    "max_retries": "give retry=RetryPolicy(max_retries=…)",
    "max_steps": "give stop_when=is_step_count(…)",
    "max_tokens": "give settings=CallSettings(max_output_tokens=…)",
    "max_turns": "give stop_when=is_step_count(…)",
    "messages": _PROMPT,
    "middleware": "give model=wrap_language_model(model, …)",
    "output_type": "give output=object_of(…)",
    "prompt": _PROMPT,
    "response_format": "give output=object_of(…)",
    "system": "give instructions=…",
    "system_prompt": "give instructions=…",
}


def advice_on(option: str, known: Iterable[str]) -> str:
    """What to do instead, to follow an error; nothing if nobody knows.

    `known` are the options that may be given where this one was.
    """
    if option in RunOptions.__annotations__:
        return ": it belongs to a run, so give it to generate(…), stream(…) and the like"
    if option in StreamOptions.__annotations__:
        return ": only a stream has something to transform"
    if option in AgentOptions.__annotations__ or option in _PARAMETERS:
        return ": it belongs to the agent"
    if option in _ELSEWHERE:
        return f": {_ELSEWHERE[option]}"
    meant = nearest(option, {*known, *_PARAMETERS})
    return "" if meant is None else f"; did you mean {meant!r}?"
