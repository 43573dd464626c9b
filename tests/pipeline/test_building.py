"""What types cannot see is refused when a pipeline is built."""

from collections.abc import Callable
from typing import Any, Literal, NewType, Protocol, TypedDict, cast, final

import pytest
from attrs import frozen
from returns.future import FutureResult
from returns.result import Result

import stepfold as sf


def _plain(number: int) -> int:
    return number


plain: Any = _plain
"""Untyped, as all that is wrong here."""


async def later(number: int) -> int:
    return number


def of_result(number: int) -> Result[int, str]:
    return sf.Success(number)


async def of_result_later(number: int) -> Result[int, str]:
    return sf.Success(number)


def of_future(number: int) -> FutureResult[int, str]:
    return FutureResult.from_value(number)


STAGE: Any = sf.stage(_plain)


class Shape(Protocol):
    size: int


class Typed(TypedDict):
    size: int


@final
@frozen
class Cat:
    lives: int


class Animal:
    pass


class Fox(Animal):
    pass


Id = NewType("Id", int)


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (lambda: sf.stage(of_result), "stage: expected a function that returns Outcome"),
        (lambda: sf.stage(of_result_later), "got one that returns Result"),
        (lambda: sf.stage(of_future), "got one that returns FutureResult"),
        (
            lambda: sf.fallible(cast("Any", of_result)),
            "fallible: expected a function that",
        ),
        (lambda: STAGE.bind(of_result), "bind: expected a function that returns Outcome"),
        (lambda: STAGE.map(of_result), "map: expected a function that returns Outcome"),
        (lambda: STAGE.tap(of_result), "tap: expected a function that returns Outcome"),
        (lambda: STAGE.map(later), "map: expected a plain function, got the async later"),
        (lambda: STAGE.guard(later, plain), "guard: expected a plain function"),
        (lambda: STAGE.recover(later), "recover: expected a plain function"),
        (lambda: STAGE.loop_until(STAGE, later, at_most=1), "loop_until: expected a plain"),
        (lambda: sf.pure(later), "pure: expected a plain function"),
        (lambda: sf.when(cast("Any", later), STAGE), "when: expected a plain function"),
        (lambda: sf.stage(cast("Any", 3)), "stage: expected a function of one argument, got 3"),
        (lambda: STAGE.map(None), "map: expected a function of one argument, got None"),
        (lambda: STAGE.then(plain), "then: expected a Stage, got the function _plain: make it"),
        (lambda: STAGE >> 3, ">>: expected a Stage, got 3"),
        (lambda: STAGE & plain, "&: expected a Stage, got the function _plain"),
        (lambda: STAGE.then(sf.when(plain, STAGE)), "then: expected a Stage, got <"),
        (lambda: STAGE.race(None), "race: expected a Stage, got None"),
        (lambda: sf.parallel(STAGE), "parallel: expected stages joined by &, got <Stage"),
        (lambda: sf.parallel_all([STAGE, plain]), "parallel_all: expected a Stage"),
        (lambda: sf.branch(cast("Any", sf.case(Cat))), "branch: expected case"),
        (lambda: sf.case(Cat).then(STAGE) | STAGE, r"\|: expected another case"),
        (lambda: sf.case(list[int]), r"case: expected a class, a union, .* got list\[int\]"),
        (lambda: sf.case(Shape), "case: expected a class that isinstance can tell, got Shape"),
        (lambda: sf.case(Typed), "case: expected a class that isinstance can tell, got Typed"),
        (lambda: sf.case(Id), "case: expected a class, a union.* got .*Id"),
        (lambda: sf.case("Cat"), "case: expected a class, a union.* got 'Cat'"),
        (
            lambda: sf.case(Animal | None).then(STAGE) | sf.case(Fox).then(STAGE),
            "case: Fox can never be chosen, since Animal is before it",
        ),
        (
            lambda: sf.case(str).then(STAGE) | sf.case(Literal["a"]).then(STAGE),
            "case: 'a' can never be chosen, since str is before it",
        ),
        (lambda: STAGE.narrow("Cat", plain), "narrow: expected a class, got 'Cat'"),
        (lambda: STAGE.retry(0), "retry, attempts: expected a whole number of at least 1, got 0"),
        (lambda: STAGE.retry(True), "expected a whole number of at least 1, got True"),
        (lambda: STAGE.timeout(-1), "timeout: expected a finite number of seconds, got -1"),
        (lambda: STAGE.timeout(float("nan")), "expected a finite number of seconds, got nan"),
        (lambda: sf.sleep(cast("Any", "1")), "sleep: expected a finite number of seconds, got '1'"),
        (lambda: STAGE.map_each(STAGE, limit=0), "map_each, limit: expected a whole number"),
        (lambda: STAGE.loop_while(STAGE, bool, at_most=0), "loop_while, at_most: expected"),
        (lambda: STAGE.named("a/b"), "named: expected a name without slashes, got 'a/b'"),
    ],
)
def test_wrong_wiring_is_refused(build: Callable[[], object], told: str) -> None:
    with pytest.raises(sf.UsageError, match=told):
        build()


def test_a_narrower_case_may_come_first() -> None:
    either = sf.case(Fox).then(sf.pure(id)) | sf.case(Animal).then(sf.pure(id))
    flag = sf.case(Literal[True]).then(sf.pure(id)) | sf.case(Literal[1]).then(sf.pure(id))

    assert sf.branch(either) == sf.branch(either)
    assert sf.branch(flag) != sf.branch(either)
