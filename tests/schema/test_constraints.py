"""Bounds and words in `Annotated`, ours and those of other libraries."""

import re
from typing import Annotated, Any

import msgspec
import pytest
import typing_extensions

from stepfold.schema import Constraint, Description, bounded, describe, pattern
from stepfold.schema._constraints import metadata_in
from stepfold.values._errors import UsageError


def test_ours_are_values() -> None:
    assert bounded(ge=1) == Constraint(ge=1)
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
