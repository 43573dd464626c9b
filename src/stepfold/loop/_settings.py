"""How a model shall answer in a step: the settings and options of its plan over the program's."""

from attrs import evolve, fields

from stepfold.loop._plan import StepPlan
from stepfold.loop._program import Program
from stepfold.values import CallSettings, JsonText, merge_options


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
    return merge_options(program.provider_options, None if plan is None else plan.provider_options)
