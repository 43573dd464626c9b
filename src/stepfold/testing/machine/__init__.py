"""The loop as a machine that hypothesis operates: anything at any time, every law after each event.

Needs hypothesis (the extra `testing`).
"""

from stepfold.testing.machine._machine import LoopMachine

__all__ = ("LoopMachine",)
