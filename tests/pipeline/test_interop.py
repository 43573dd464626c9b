"""From stages to the containers of `returns`, and back."""

from returns.future import FutureResult
from returns.io import IOFailure, IOSuccess
from returns.result import Result

import stepfold as sf
from stepfold.pipeline.interop import as_future_result, from_future_result, from_result


def positive(number: int) -> Result[int, str]:
    return sf.Success(number) if number > 0 else sf.Failure(f"{number} is not positive")


def later(number: int) -> FutureResult[int, str]:
    return FutureResult.from_result(positive(number))


async def test_a_stage_is_bound_as_a_future_result() -> None:
    double = sf.given(int).map(lambda number: 2 * number)

    assert await FutureResult.from_value(2).bind(as_future_result(double)) == IOSuccess(4)
    checked = as_future_result(from_result(positive))
    assert await FutureResult.from_value(-2).bind(checked) == IOFailure("-2 is not positive")


async def test_functions_that_return_results_are_stages() -> None:
    for pipeline in (from_result(positive), from_future_result(later)):
        assert await pipeline.run(1) == sf.Success(1)
        assert await pipeline.run(0) == sf.Failure("0 is not positive")
    assert from_result(positive) == from_result(positive)
    assert from_result(positive).tree() == "positive"
