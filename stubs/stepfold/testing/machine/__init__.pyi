from stepfold.testing.machine._machine import LoopMachine

__all__ = ("LoopMachine",)
