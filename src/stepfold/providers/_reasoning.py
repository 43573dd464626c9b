"""How much a model shall reason, and what it is refused while it does."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from stepfold.values import CallSettings, ModelWarning, ReasoningEffort

Sampling: TypeAlias = Literal["free", "fixed", "fixed-when-reasoning"]
"""Whether a model takes settings such as the temperature."""

_EFFORTS: tuple[ReasoningEffort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def nearest_effort(effort: ReasoningEffort, known: Sequence[ReasoningEffort]) -> ReasoningEffort:
    """The effort, else the next lower one that is known, else the lowest; `known` ascends."""
    rank = _EFFORTS.index(effort)
    below: list[ReasoningEffort] = [one for one in known if _EFFORTS.index(one) <= rank]
    return below[-1] if below else known[0]


def sent_effort(
    settings: CallSettings,
    known: Sequence[ReasoningEffort] | None,
    warnings: list[ModelWarning],
) -> ReasoningEffort | None:
    """The effort as a model knows it: `None` knows every one, `()` is a model without reasoning."""
    effort = settings.reasoning
    if effort is None or known is None:
        return effort
    if not known:
        if effort != "none":
            warnings.append(ModelWarning("unsupported", "reasoning", "this model does not reason"))
        return None
    sent = nearest_effort(effort, known)
    if sent != effort:
        message = f"{effort} was sent as {sent}"
        warnings.append(ModelWarning("compatibility", "reasoning", message))
    return sent


def drop_refused(
    body: dict[str, object],
    names: Sequence[str],
    settings: CallSettings,
    sampling: Sampling,
    warnings: list[ModelWarning],
) -> None:
    """Take out of a body what a model that reasons refuses; `None` was not set."""
    reasons = settings.reasoning != "none"
    if sampling == "free" or (sampling == "fixed-when-reasoning" and not reasons):
        return
    warnings += [
        ModelWarning("unsupported", name, "models that reason refuse this setting")
        for name in names
        if body.pop(name) is not None
    ]


def absent_settings(absent: Mapping[str, object], protocol: str) -> list[ModelWarning]:
    """What is to be said of settings that a protocol has no words for; `None` was not set."""
    return [
        ModelWarning("unsupported", name, f"{protocol} no such setting")
        for name, value in absent.items()
        if value is not None
    ]
