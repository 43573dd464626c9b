"""Outputs: text, or a value of a type, or why there is none."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypedDict, final

import attrs
import pytest
from attrs import field, frozen

from stepfold.agent import Agent, Output, RunFailed, object_of, text
from stepfold.testing import ScriptedModel, reply
from stepfold.values import (
    Completed,
    Failed,
    Failure,
    JsonText,
    NoOutput,
    Success,
    UsageError,
)


@final
@frozen
class Report:
    """A report."""

    city: str
    celsius: float = 0.0


@final
@frozen
class Refusal:
    reason: str


@final
@dataclass(frozen=True)
class Plain:
    numbers: list[int]


class Typed(TypedDict):
    city: str


class Named(NamedTuple):
    city: str


@final
@attrs.frozen
class Positive:
    amount: int = field()

    @amount.validator
    def _positive(self, attribute: object, value: int) -> None:
        if value <= 0:
            msg = f"expected more than 0, got {value}"
            raise ValueError(msg)


@pytest.mark.parametrize(
    ("output", "answer", "value"),
    [
        (text(), "", ""),
        (text(), "Hello.", "Hello."),
        (object_of(Report), '{"city":"Oslo"}', Report("Oslo")),
        (object_of(Report | Refusal), '{"result":{"reason":"no"}}', Refusal("no")),
        (
            object_of(Report | Refusal),
            ' {"result": {"city":"Oslo","celsius":1}} ',
            Report("Oslo", 1.0),
        ),
        (object_of(Plain), '{"numbers":[1,2]}', Plain([1, 2])),
        (object_of(Typed), '{"city":"Oslo"}', {"city": "Oslo"}),
        (object_of(Named), '{"city":"Oslo"}', Named("Oslo")),
        (object_of(list[Report]), '{"result":[{"city":"Oslo"}]}', [Report("Oslo")]),
        (object_of(Literal["yes", "no"]), '{"result":"yes"}', "yes"),
        (object_of(int | None), '{"result":null}', None),
    ],
)
async def test_an_answer_becomes_a_value(
    output: Output[object], answer: str, value: object
) -> None:
    """Of the type that was asked for."""
    agent = Agent(model=ScriptedModel([reply(answer)]), output=output)
    run = await agent.generate("Go.")

    assert run.end == Completed(value)
    assert run.unwrap() == value
    assert type(run.unwrap()) is type(value)


@pytest.mark.parametrize(
    ("output", "answer", "told"),
    [
        (object_of(Report), "Well, it is warm.", "the answer is not JSON"),
        (object_of(Report), "", "the answer is not JSON"),
        (object_of(Report), '{"city":"Oslo"', "the answer is not JSON"),
        (object_of(Report), '{"city":7}', "the answer does not fit: /city: "),
        (object_of(Report), "[]", "the answer does not fit: (all of it): "),
        (object_of(Report), '{"city":"Oslo","town":""}', "the answer does not fit: "),
        (object_of(Literal["yes"]), '{"result":"no"}', "the answer does not fit: /result: "),
        (
            object_of(Positive),
            '{"amount":0}',
            "the answer is refused by Positive: (all of it): ValueError: expected more than 0",
        ),
        (
            object_of(list[Positive]),
            '{"result":[{"amount":1},{"amount":-1}]}',
            "the answer is refused by list: /1: ValueError: expected more than 0, got -1",
        ),
    ],
)
async def test_an_answer_that_does_not_fit_fails_the_run(
    output: Output[object], answer: str, told: str
) -> None:
    """The model's own words are kept; validators have the last say."""
    agent = Agent(model=ScriptedModel([reply(answer)]), output=output)
    with pytest.raises(RunFailed) as caught:
        await agent.generate("Go.")

    error = caught.value.error
    assert isinstance(error, NoOutput)
    assert error.message.startswith(told)
    assert error.text == answer
    assert caught.value.run.end == Failed(error)
    assert caught.value.run.output == Failure(error)
    assert str(caught.value).startswith("the model gave no output of the promised type: " + told)


async def test_the_model_is_told_the_schema() -> None:
    """With a name and a description."""
    model = ScriptedModel([reply('{"city":"Oslo"}')])
    await Agent(model=model, output=object_of(Report, name="weather", description="Now.")).generate(
        "Go."
    )
    wanted = model.requests[0].response_format

    assert wanted is not None
    assert (wanted.name, wanted.description) == ("weather", "Now.")
    assert object_of(Report).spec.name == "object_of(Report)"
    assert object_of(Report | Refusal).spec.name == "object_of(output)"


def test_a_string_is_no_type() -> None:
    """Though type checkers take it for one."""
    with pytest.raises(UsageError, match="expected a type, got the string 'Report'; give the type"):
        object_of("Report")


def test_a_type_without_json_form_is_refused() -> None:
    """When the output is made."""
    with pytest.raises(UsageError, match="object_of"):
        object_of(object.__init__.__class__)


def test_text_is_text() -> None:
    """A stored document of another kind is none."""
    assert text().decode(JsonText('"a"')) == Success("a")
    assert text().decode(JsonText("1")) == Failure(NoOutput("expected text", "1"))
