from stepfold.plugins._pytest import MakeScriptedModel

__all__ = ("MakeScriptedModel",)
