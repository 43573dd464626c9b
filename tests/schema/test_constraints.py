"""Bounds and words in `Annotated`, ours and those of other libraries."""

import re
from types import SimpleNamespace
from typing import Annotated, Any

import msgspec
import pydantic
import pytest
import typing_extensions

from stepfold.schema import Constraint, Description, bounded, describe, pattern
from stepfold.schema._constraints import metadata_in
from stepfold.values._errors import UsageError


@pytest.mark.parametrize(
    "bounds",
    [
        *({name: 0.5} for name in ("ge", "gt", "le", "lt", "multiple_of")),
        *({name: length} for name in ("min_length", "max_length") for length in (0, 2)),
    ],
    ids=str,
)
def test_bounds_are_kept_and_read_alike_from_others(bounds: dict[str, Any]) -> None:
    theirs = SimpleNamespace(**bounds)

    assert bounded(**bounds) == Constraint(**bounds)
    assert metadata_in([theirs]) == ((Constraint(**bounds),), "")


def test_ours_are_values() -> None:
    assert pattern("a") == Constraint(pattern="a")
    assert describe("words") == Description("words")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "expected at least one bound"),
        ({"multiple_of": 0}, "expected multiple_of above 0"),
        ({"max_length": -1}, "expected lengths of 0 or more"),
    ],
    ids=str,
)
def test_bounds_that_mean_nothing_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        bounded(**arguments)


def test_pattern_must_compile() -> None:
    with pytest.raises(UsageError, match="expected a regular expression"):
        pattern("(")


def test_metadata_within_metadata_is_read() -> None:
    grouped = SimpleNamespace(metadata=[describe("inner"), bounded(ge=1)])

    assert metadata_in([describe("outer"), grouped]) == ((Constraint(ge=1),), "inner")
    assert metadata_in([describe("outer"), SimpleNamespace(metadata=())]) == ((), "outer")


def test_expression_may_be_compiled_already() -> None:
    assert metadata_in([SimpleNamespace(pattern=re.compile("a"))]) == ((pattern("a"),), "")


def test_code_of_pydantic_that_checks_is_refused() -> None:
    with pytest.raises(UsageError, match="got code that checks"):
        metadata_in([pydantic.AfterValidator(str)])


def test_metadata_of_others_is_read() -> None:
    metadata: Any = Annotated[
        str,
        msgspec.Meta(min_length=1, pattern="a", description="first"),
        typing_extensions.Doc("last"),
        re.compile("b"),
        str,
    ]
    constraints, description = metadata_in(metadata.__metadata__)

    assert constraints == (Constraint(min_length=1, pattern="a"), Constraint(pattern="b"))
    assert description == "last"
