"""Laws 1 to 5, 8, 9, 13 and 15 hold at every state and every event of every run."""

from hypothesis import given

from stepfold.testing import Trace, laws
from stepfold.testing.strategies import traces


@given(traces())
def test_every_law_holds_in_every_run(trace: Trace) -> None:
    laws.every_law_holds(trace)
