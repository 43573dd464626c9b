"""stepfold runs language models in a tool loop whose every decision is a pure function."""

__all__ = ()
