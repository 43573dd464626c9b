"""An `Outcome` is exhausted by two cases, each of which knows its type."""

from typing import assert_type

from stepfold.values import Failure, Outcome, Success, fold, succeeded


def both_cases_are_exact_and_enough(outcome: Outcome[int, str]) -> int:
    match outcome:
        case Success(value):
            assert_type(value, int)
            return value
        case Failure(error):
            assert_type(error, str)
            return len(error)


def one_case_is_not_enough(outcome: Outcome[int, str]) -> int:  # type: ignore[return]  # pyright: ignore[reportReturnType]
    match outcome:  # type: ignore[exhaustive-match]  # pyright: ignore[reportMatchNotExhaustive]
        case Success(value):
            return value


def asking_narrows_both_ways(outcome: Outcome[int, str]) -> None:
    if succeeded(outcome):
        assert_type(outcome, Success[int])
    else:
        assert_type(outcome, Failure[str])


def folding_unites(outcome: Outcome[int, str]) -> None:
    assert_type(fold(outcome, str, len), str | int)


def a_failure_is_no_success(failure: Failure[str]) -> Outcome[str, int]:
    return failure  # type: ignore[return-value]  # pyright: ignore[reportReturnType]
