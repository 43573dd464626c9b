from stepfold.providers.local._model import LocalModel, local_model, local_smollm2

__all__ = ("LocalModel", "local_model", "local_smollm2")
