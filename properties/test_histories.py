"""Laws 4, 5 and 13 for histories from outside: whole, half-written, or wrong."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from stepfold.codec import encode
from stepfold.loop import (
    Done,
    Program,
    Pruning,
    ToolCallPruning,
    begin,
    convert_to_model_prompt,
    inspect_history,
    prune_messages,
    repair_history,
    trim_messages,
    validate_history,
)
from stepfold.loop.notes import HistoryRepaired
from stepfold.testing import laws, simulate
from stepfold.testing.strategies import histories, messy_histories, programs, schedules, worlds
from stepfold.values import Failure, Message, Success

TOOLS = ("look", "wipe", "forgotten")
WORDS: tuple[Pruning, ...] = get_args(Pruning)


@given(st.data(), programs(min_tools=2, asking=70), histories(min_turns=1, broken=40))
def test_every_law_holds_for_runs_of_any_history(
    data: st.DataObject, program: Program, history: tuple[Message, ...]
) -> None:
    world = data.draw(worlds(program=program, max_turns=2))
    talk = schedules(kinds=("steer", "steer", "crash", "cancel"), max_tick=8)
    laws.every_law_holds(simulate(program, history, world, data.draw(talk)))


@given(st.data(), programs(min_tools=2, asking=70), messy_histories())
def test_every_law_holds_for_runs_of_any_messy_history(
    data: st.DataObject, program: Program, history: tuple[Message, ...]
) -> None:
    world = data.draw(worlds(program=program, max_turns=2))
    laws.every_law_holds(simulate(program, history, world))


@given(histories(min_turns=1, broken=40) | messy_histories())
def test_a_history_is_repaired_once(history: tuple[Message, ...]) -> None:
    laws.history_is_repaired_once(history)


@given(histories(min_turns=1, broken=40) | messy_histories())
def test_a_repair_drops_only_what_it_says(history: tuple[Message, ...]) -> None:
    laws.repair_loses_nothing(history)


@given(programs(), histories(min_turns=1, broken=40) | messy_histories())
def test_a_run_begins_with_the_repaired_history(
    program: Program, history: tuple[Message, ...]
) -> None:
    repaired = repair_history(history, client_tools=program.client_tools)
    given = begin(program, history, run="r", seed=0, at=0)
    mended = begin(program, repaired.messages, run="r", seed=0, at=0)

    assert encode(given.state) == encode(mended.state)
    told = (HistoryRepaired(repaired.mended),) if repaired.mended else ()
    assert given.notes == told + mended.notes


@given(programs(), histories(min_turns=1, broken=40) | messy_histories())
def test_what_a_run_has_written_needs_no_repair(
    program: Program, history: tuple[Message, ...]
) -> None:
    first = begin(program, history, run="r", seed=0, at=0).state
    if isinstance(first.phase, Done):
        return  # a limit left no room, and so on: what it holds is the whole history
    again = begin(program, first.messages, run="r", seed=0, at=0).state

    assert again.messages[: len(first.messages)] == first.messages


@given(messy_histories())
def test_a_history_is_valid_when_nothing_in_it_is_an_error(history: tuple[Message, ...]) -> None:
    errors = tuple(one for one in inspect_history(history) if one.severity == "error")

    assert validate_history(history) == (Failure(errors) if errors else Success(history))


@given(histories(broken=0))
def test_putting_a_prompt_in_order_twice_changes_nothing(history: tuple[Message, ...]) -> None:
    once = convert_to_model_prompt(history)

    assert convert_to_model_prompt(once) == once


@given(messy_histories(), st.sampled_from(get_args(Pruning)), st.data())
def test_a_valid_history_stays_valid_when_it_is_pruned(
    messy: tuple[Message, ...], reasoning: Pruning, data: st.DataObject
) -> None:
    history = repair_history(messy).messages
    tools = st.none() | st.lists(st.sampled_from(TOOLS), max_size=2)
    rules = st.lists(st.builds(ToolCallPruning, st.integers(0, 4), tools), max_size=2)
    pruned = prune_messages(
        history, reasoning=reasoning, tool_calls=data.draw(st.sampled_from(WORDS) | rules)
    )

    assert isinstance(validate_history(pruned), Success)
    laws.history_is_repaired_once(pruned)


@given(messy_histories(), st.integers(1, 9), st.integers(1, 60), st.booleans())
def test_a_valid_history_stays_valid_when_it_is_trimmed(
    messy: tuple[Message, ...], most: int, tokens: int, keep_first_user: bool
) -> None:
    history = repair_history(messy).messages

    def trim(messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return trim_messages(
            messages,
            max_messages=most,
            max_tokens=tokens,
            count=lambda message: 3 + len(message.content),
            keep_first_user=keep_first_user,
        )

    trimmed = trim(history)

    assert isinstance(validate_history(trimmed), Success)
    assert trim(trimmed) == trimmed
    assert trimmed[-1] is history[-1]
    fits = len(trimmed) <= most and sum(3 + len(one.content) for one in trimmed) <= tokens
    assert fits or _is_one_block(trimmed[keep_first_user:])


def _is_one_block(messages: tuple[Message, ...]) -> bool:
    """Whether nothing can be cut off, but for a first message of a person."""
    return trim_messages(messages, max_messages=1) == messages
