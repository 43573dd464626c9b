"""Floor 8: what pytest and hypothesis load by themselves where stepfold is installed.

Loaded in every test run of every project around, so nothing heavy is imported before it is used.
pytest gets fixtures, a marker and an option; hypothesis learns to draw the values of stepfold.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepfold.plugins._pytest import MakeScriptedModel

__all__ = ("MakeScriptedModel",)


def __getattr__(name: str) -> object:
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from stepfold.plugins import _pytest

    return getattr(_pytest, name)
