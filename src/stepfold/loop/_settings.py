"""How a model shall answer in a step: the settings and options of its plan over the program's."""

from attrs import evolve, fields

from stepfold.loop._plan import StepPlan
from stepfold.loop._program import Program
from stepfold.values import CallSettings, JsonObject, JsonText, JsonValue


def settings_of(program: Program, plan: StepPlan | None) -> CallSettings:
    """The settings of a step: what its plan leaves `None` is as in the program."""
    if plan is None or plan.settings is None:
        return program.settings
    chosen = {
        setting.name: value
        for setting in fields(CallSettings)
        if (value := getattr(plan.settings, setting.name)) is not None and value != ()
    }
    return evolve(program.settings, **chosen)


def provider_options_of(program: Program, plan: StepPlan | None) -> JsonText | None:
    """What only the provider understands: the plan's options merged into the program's."""
    own = program.provider_options
    if plan is None or plan.provider_options is None:
        return own
    over = plan.provider_options
    return over if own is None else JsonText.of(_merged(own.value, over.value))


def _merged(below: JsonValue, over: JsonValue) -> JsonValue:
    """Objects are merged key by key; anything else is replaced."""
    if not isinstance(below, JsonObject) or not isinstance(over, JsonObject):
        return over
    members = dict(below)
    for key, value in over.items():
        members[key] = _merged(below[key], value) if key in below else value
    return JsonObject(members)
