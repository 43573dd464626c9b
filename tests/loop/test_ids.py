"""Sets of ids grow without being copied at each step."""

import pytest

from stepfold.loop._ids import NO_IDS


def test_adding_ids_leaves_the_old_set_alone() -> None:
    """States share their sets: the old one is still in use."""
    old = NO_IDS.adding(["a"])
    new = old.adding(["b"])

    assert ("a" in old, "b" in old) == (True, False)
    assert ("a" in new, "b" in new) == (True, True)
    assert "a" not in NO_IDS


def test_adding_nothing_is_the_same_set() -> None:
    """A step without calls costs nothing."""
    ids = NO_IDS.adding(["a"])

    assert ids is ids.adding(())


def test_many_small_additions_make_few_sets() -> None:
    """Each is more than twice as large as the next, so asking costs O(log n)."""
    ids = NO_IDS
    for number in range(1000):
        ids = ids.adding([str(number)])

    assert all(str(number) in ids for number in range(1000))
    assert len(ids._sets) <= 10


@pytest.mark.parametrize(("first", "sizes"), [("ab", [3]), ("abc", [3, 1])])
def test_a_set_is_copied_only_if_it_is_not_much_larger_than_what_is_added(
    first: str, sizes: list[int]
) -> None:
    """More than twice as large is kept as it is: copying it each time would cost its whole size."""
    ids = NO_IDS.adding(first).adding("z")

    assert [len(kept) for kept in ids._sets] == sizes
