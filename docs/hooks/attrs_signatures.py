"""Show what a value takes: an extension of griffe that gives attrs classes their `__init__`.

griffe reads source and runs nothing, so it knows the fields of a class under `@frozen`, and not
that they are its parameters.
"""

import griffe
from typing_extensions import override

_MAKERS = {"attrs.frozen", "attrs.define", "frozen", "define"}


class AttrsSignatures(griffe.Extension):
    """Gives each class that attrs makes the signature that attrs gives it."""

    @override
    def on_class_members(self, *, cls: griffe.Class, **_: object) -> None:
        """Look for the decorator, once the fields are known."""
        if "__init__" in cls.members:
            return
        for decorator in cls.decorators:
            if decorator.callable_path in _MAKERS:
                by_keyword = _options_of(decorator.value).get("kw_only") == "True"
                cls.set_member("__init__", _init_of(cls, by_keyword=by_keyword))


def _init_of(cls: griffe.Class, *, by_keyword: bool) -> griffe.Function:
    positional: list[griffe.Parameter] = []
    keywords: list[griffe.Parameter] = []
    for name, member in cls.members.items():
        if not isinstance(member, griffe.Attribute) or member.annotation is None:
            continue
        if "property" in member.labels:
            continue
        is_field = _is_call_of(member.value, "field")
        options = _options_of(member.value) if is_field else {}
        if options.get("init") == "False":
            continue
        default = options.get("default") if is_field else member.value
        if default is None and "factory" in options:
            default = "..."
        only = by_keyword or options.get("kw_only") == "True"
        parameter = griffe.Parameter(
            options.get("alias", name.lstrip("_")).strip("'\""),
            annotation=member.annotation,
            kind=griffe.ParameterKind.keyword_only if only else _POSITIONAL,
            default=default,
        )
        (keywords if only else positional).append(parameter)
    parameters = griffe.Parameters(*positional, *keywords)
    return griffe.Function("__init__", parameters=parameters, returns="None", parent=cls)


_POSITIONAL = griffe.ParameterKind.positional_or_keyword


def _is_call_of(value: object, name: str) -> bool:
    return isinstance(value, griffe.ExprCall) and str(value.function) == name


def _options_of(value: object) -> dict[str, str]:
    if not isinstance(value, griffe.ExprCall):
        return {}
    given = (it for it in value.arguments if isinstance(it, griffe.ExprKeyword))
    return {it.name: str(it.value) for it in given}
