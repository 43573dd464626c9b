"""An execution begins with what `start` sends, and with nothing else."""

import pytest

import stepfold as sf
from stepfold.codec import StoredDataError
from stepfold.durable.temporal import EngineOptions
from stepfold.durable.temporal._execution import Execution
from tests.durable.temporal.program import Traveller


@pytest.mark.parametrize("given", [(), ("Go",), ({"type": "run"},), ({"x": 1}, {})])
def test_an_input_that_is_none_says_how_runs_are_begun(given: tuple[object, ...]) -> None:
    with pytest.raises(sf.UsageError, match=r"begin it by stepfold.durable.temporal.start"):
        Execution(Traveller.agent.program, EngineOptions(), None, given)


@pytest.mark.parametrize(
    "given",
    [
        ({"v": 1, "type": "journal-header"},),
        ({"v": 99, "type": "journal-header"},),
        ({"v": 1, "type": "continued"}, {"v": 1, "type": "base"}),
    ],
)
def test_an_input_that_cannot_be_read_is_a_typed_error(given: tuple[object, ...]) -> None:
    with pytest.raises(StoredDataError):
        Execution(Traveller.agent.program, EngineOptions(), None, given)
