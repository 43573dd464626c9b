"""Which tools a model is told of, and in which order."""

from collections.abc import Collection, Sequence

import pytest

from stepfold.loop._order import offered

TOOLS = {"pay": 1, "look": 2, "ask": 3}


@pytest.mark.parametrize(
    ("active", "order", "expected"),
    [
        (None, None, ["pay", "look", "ask"]),
        (("ask", "pay"), None, ["pay", "ask"]),
        ((), None, []),
        (None, (), ["ask", "look", "pay"]),
        (None, ("look",), ["look", "ask", "pay"]),
        (None, ("pay", "none", "look", "pay"), ["pay", "look", "ask"]),
        (("ask", "look"), ("pay", "look"), ["look", "ask"]),
    ],
)
def test_what_is_listed_comes_first_and_only_the_active(
    active: Collection[str] | None, order: Sequence[str] | None, expected: list[str]
) -> None:
    """What is listed and not there is left out; the rest is sorted."""
    found = offered(TOOLS, active, order)

    assert list(found) == expected
    assert all(found[name] == TOOLS[name] for name in found)


def test_the_rest_is_sorted_as_javascript_sorts() -> None:
    """By code units of UTF-16, so that one prompt is cached for all clients; lone halves too."""
    beyond, private, alone = "\U0001f600", "\uf000", "\ud800"

    assert list(offered(dict.fromkeys((private, beyond, alone)), None, ())) == [
        alone,
        beyond,
        private,
    ]
