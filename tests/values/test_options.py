"""Options of two levels come together object by object."""

import pytest

from stepfold.values import JsonText, merge_options


@pytest.mark.parametrize(
    ("under", "over", "merged"),
    [
        (None, None, None),
        ('{"a":1}', None, '{"a":1}'),
        (None, '{"a":1}', '{"a":1}'),
        ('{"b":1,"a":{"x":1,"y":2}}', '{"a":{"y":3,"z":4},"c":5}',
         '{"b":1,"a":{"x":1,"y":3,"z":4},"c":5}'),
        ('{"a":[1,2]}', '{"a":[3]}', '{"a":[3]}'),
        ('{"a":{"x":1}}', '{"a":2}', '{"a":2}'),
        ('{"a":2}', '{"a":{"x":1}}', '{"a":{"x":1}}'),
    ],
)  # fmt: skip
def test_objects_are_merged_and_anything_else_is_replaced(
    under: str | None, over: str | None, merged: str | None
) -> None:
    """What is more particular wins, and the keys of the other come first."""
    given = [None if text is None else JsonText(text) for text in (under, over)]

    assert merge_options(given[0], given[1]) == (None if merged is None else JsonText(merged))
