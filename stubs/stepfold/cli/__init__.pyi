from stepfold.cli._main import main

__all__ = ("main",)
