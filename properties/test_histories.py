"""Laws 4, 5 and 13 for histories from outside: whole, half-written, or wrong."""

from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import Done, Program, begin, convert_to_model_prompt
from stepfold.testing import laws, simulate
from stepfold.testing.strategies import histories, programs, schedules, worlds
from stepfold.values import Message


@given(st.data(), programs(min_tools=2, asking=70), histories(min_turns=1, broken=40))
def test_every_law_holds_for_runs_of_any_history(
    data: st.DataObject, program: Program, history: tuple[Message, ...]
) -> None:
    world = data.draw(worlds(program=program, max_turns=2))
    talk = schedules(kinds=("steer", "steer", "crash", "cancel"), max_tick=8)
    laws.every_law_holds(simulate(program, history, world, data.draw(talk)))


@given(programs(), histories(min_turns=1, broken=40))
def test_a_history_is_repaired_once(program: Program, history: tuple[Message, ...]) -> None:
    first = begin(program, history, run="r", seed=0, at=0).state
    if isinstance(first.phase, Done):
        return  # a limit left no room, and so on: what it holds is the whole history
    again = begin(program, first.messages, run="r", seed=0, at=0).state

    assert again.messages[: len(first.messages)] == first.messages


@given(histories(broken=0))
def test_putting_a_prompt_in_order_twice_changes_nothing(history: tuple[Message, ...]) -> None:
    once = convert_to_model_prompt(history)

    assert convert_to_model_prompt(once) == once
