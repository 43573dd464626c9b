"""The transitions of a pipeline, by hand."""

import pytest

import stepfold as sf
from stepfold.pipeline import (
    Suspended,
    begin,
    carried_out,
    pending,
    step,
)
from stepfold.pipeline.commands import CancelStage, Pause, RunStage
from stepfold.pipeline.events import (
    CancelAsked,
    InputGiven,
    StageKey,
    StageRaised,
    StageStopped,
    StageSucceeded,
    StageTimedOut,
    Waited,
)
from stepfold.values import Cancelled, IllegalEvent


def absolute(number: int) -> int:
    return abs(number)


TWO = sf.given(int).parallel(sf.stage(absolute) & sf.stage(str))


def test_commands_say_what_to_run_with_what() -> None:
    wiring = TWO.wiring
    first = begin(wiring, -1, run="run", seed=0, at=0)

    one, two = first.commands
    assert isinstance(one, RunStage)
    assert isinstance(two, RunStage)
    assert (one.key, two.key) == (StageKey((0, 0), 0), StageKey((0, 1), 0))
    assert carried_out(wiring, one, 5) == StageSucceeded(one.key, 1, 5)
    assert pending(wiring, first.state) == first.commands


def test_an_answer_to_what_was_never_asked_is_refused() -> None:
    wiring = TWO.wiring
    state = begin(wiring, -1, run="run", seed=0, at=0).state

    for key in (
        StageKey((), 1),
        StageKey((), 0),
        StageKey((0, 0), 1),
        StageKey((0, 2), 0),
        StageKey((1, 0), 0),
        StageKey((0, 0, 0, 0), 0),
    ):
        with pytest.raises(IllegalEvent, match="ever issued"):
            step(wiring, state, StageSucceeded(key, 1, 1))


def test_an_answer_of_another_kind_is_refused() -> None:
    wiring = TWO.wiring
    state = begin(wiring, -1, run="run", seed=0, at=0).state
    key = StageKey((0, 0), 0)
    slept = sf.sleep(1).wiring
    sleeping = begin(slept, 1, run="run", seed=0, at=0).state

    for event in (Waited(key, 1), InputGiven(key, 1, 1)):
        with pytest.raises(IllegalEvent, match="answers nothing here"):
            step(wiring, state, event)
    with pytest.raises(IllegalEvent, match="answers nothing here"):
        step(slept, sleeping, StageSucceeded(StageKey((), 0), 1, 1))
    with pytest.raises(IllegalEvent, match="was not to be cancelled"):
        step(wiring, state, StageStopped(key, 1))
    with pytest.raises(IllegalEvent, match="had no deadline"):
        step(wiring, state, StageTimedOut(key, 1))


def test_a_choice_that_is_no_arm_is_refused() -> None:
    wiring = sf.when(bool, sf.pure(abs)).otherwise(sf.pure(str)).wiring
    state = begin(wiring, 1, run="run", seed=0, at=0).state

    with pytest.raises(IllegalEvent, match="expected the number of one of 2 arms, got 2"):
        step(wiring, state, StageSucceeded(StageKey((), 0), 2, 1))


def test_a_run_ends_once_all_that_runs_has_ended() -> None:
    wiring = TWO.wiring
    state = begin(wiring, -1, run="run", seed=0, at=0).state
    one, two = StageKey((0, 0), 0), StageKey((0, 1), 0)

    asked = step(wiring, state, CancelAsked("enough", 1))
    assert asked.commands == (CancelStage(one), CancelStage(two))
    again = step(wiring, asked.state, CancelAsked("really", 2))
    assert not again.commands
    half = step(wiring, again.state, StageSucceeded(one, 1, 3))
    assert half.state.end is None
    done = step(wiring, half.state, StageStopped(two, 4))
    assert done.state.end == Cancelled("enough")
    assert step(wiring, done.state, StageStopped(two, 5)).state is done.state


def test_the_first_defect_counts() -> None:
    wiring = TWO.wiring
    state = begin(wiring, -1, run="run", seed=0, at=0).state
    one, two = StageKey((0, 0), 0), StageKey((0, 1), 0)

    first = step(wiring, state, StageRaised(one, "OSError", "first", 1))
    second = step(wiring, first.state, StageRaised(two, "OSError", "second", 2))

    assert first.commands == (CancelStage(two),)
    assert second.state.end == sf.Crashed("absolute", "OSError", "first")


def test_a_run_that_pauses_can_be_cancelled() -> None:
    wiring = sf.sleep(1).wiring
    first = begin(wiring, 1, run="run", seed=0, at=5)
    key = StageKey((), 0)

    assert first.commands == (Pause(key, 1_000_000_005),) == pending(wiring, first.state)
    asked = step(wiring, first.state, CancelAsked("enough", 6))
    assert asked.commands == (CancelStage(key),)
    assert step(wiring, asked.state, StageStopped(key, 7)).state.end == Cancelled("enough")


def test_an_answer_at_the_deadline_is_too_late_for_all_within() -> None:
    wiring = TWO.timeout(1).wiring
    first = begin(wiring, -1, run="run", seed=0, at=0)
    one, two = (command.key for command in first.commands)

    late = step(wiring, first.state, StageSucceeded(one, 1, 1_000_000_000))
    assert late.commands == (CancelStage(two),)
    ended = step(wiring, late.state, StageSucceeded(two, "-1", 1_000_000_001))
    assert ended.state.end == sf.Finished(sf.Failure(sf.TimedOut(1)))


def test_nothing_is_suspended_that_asks_for_nothing() -> None:
    wiring = TWO.wiring

    assert not any(
        isinstance(getattr(note, "end", None), Suspended)
        for note in begin(wiring, 1, run="run", seed=0, at=0).notes
    )
