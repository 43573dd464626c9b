"""hypothesis draws the types of stepfold, told by no import."""

import subprocess
import sys
from typing import cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from stepfold.codec import _forms as forms
from stepfold.loop import Limits, LoopState, Program, pending
from stepfold.loop.events import Event
from stepfold.testing import Trace, laws
from stepfold.testing.strategies import strategy_for
from stepfold.values import Completed, JsonText, Message, UsageError

few = settings(
    max_examples=10,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("kind", forms.TAGS, ids=repr)
def test_values_of_every_class_of_a_run_are_drawn_and_survive(kind: type) -> None:
    @few
    @given(st.from_type(kind))
    def survives(value: object) -> None:
        assert type(value) is kind
        laws.value_survives(value, kind)

    survives()


MESSAGES = st.from_type(cast("type[Message]", Message))
EVENTS = st.from_type(cast("type[Event]", Event))


@few
@given(MESSAGES, EVENTS, st.from_type(Completed[JsonText]))
def test_unions_and_generics_are_drawn(
    message: Message, event: Event, end: Completed[JsonText]
) -> None:
    laws.value_survives(message, Message)
    laws.value_survives(event, Event)
    assert isinstance(end.output, JsonText)


@few
@given(st.from_type(LoopState), st.from_type(Program), st.from_type(Limits), st.from_type(Trace))
def test_what_runs_are_made_of_is_drawn(
    state: LoopState, program: Program, limits: Limits, trace: Trace
) -> None:
    laws.end_can_be_sent(state)
    assert program.fingerprint
    assert limits.steps is None or limits.steps >= 0
    assert pending(trace.start.state) == trace.start.commands


def test_what_is_no_class_is_refused() -> None:
    with pytest.raises(UsageError, match=r"strategy_for: expected a class, such as .*, got 3"):
        strategy_for(3)


TOLD_BY_NO_IMPORT = """
import hypothesis.strategies as st
from hypothesis import given, settings
from stepfold.values import UserMessage
import sys
assert not any(name.startswith("stepfold.testing") for name in sys.modules)
seen = []
drawn = given(st.from_type(UserMessage))(lambda it: seen.append(it))
settings(max_examples=3, database=None)(drawn)()
assert seen and all(type(it) is UserMessage for it in seen)
assert not any(type(it).__module__ == "stepfold.plugins._hypothesis" for it in sys.meta_path
               if "stepfold.values" in getattr(it, "_names", ()))
"""


@pytest.mark.parametrize("first", ["", "import stepfold.values, stepfold.loop\n"])
def test_order_of_imports_does_not_matter(first: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", first + TOLD_BY_NO_IMPORT],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
