"""How much Python something takes: a cost that is the same on every machine."""

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_of(work: Callable[[], object]) -> int:
    """How many lines are run. It is done once before, so that nothing of it is new."""
    work()
    lines = 0

    def count(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # others may have asked to be called at each collection
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return lines
