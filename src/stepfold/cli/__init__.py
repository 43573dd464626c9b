"""Floor 8: the `stepfold` command. It needs the extra `cli`, and says so where it is missing."""

from stepfold.cli._main import main

__all__ = ("main",)
