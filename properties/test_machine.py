"""The loop as a machine that hypothesis operates, on drawn programs."""

from hypothesis.strategies import SearchStrategy
from typing_extensions import override

from stepfold.loop import Program
from stepfold.testing.machine import LoopMachine
from stepfold.testing.strategies import programs


class Loop(LoopMachine):
    @override
    def programs(self) -> SearchStrategy[Program]:
        return programs(min_tools=2)


TestLoop = Loop.TestCase
