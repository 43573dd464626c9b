"""Rows behave as tuples do, and share what they hold."""

from stepfold.pipeline._vector import row_of


def test_a_row_is_replaced_place_by_place() -> None:
    for size in (0, 1, 31, 32, 33, 1_024, 1_025):
        plain, row = list(range(size)), row_of(list(range(size)))
        for place in range(0, size, 7):
            plain[place] = -place
            row = row.put(place, -place)
        assert list(row) == plain
        assert [row.get(place) for place in range(size)] == plain


def test_a_row_is_filled_from_a_place_on() -> None:
    row = row_of([0] * 40)

    assert list(row.filled(0, [1] * 3)) == [1] * 3 + [0] * 37
    assert list(row.filled(0, [1] * 40)) == [1] * 40
    assert list(row.filled(38, [1, 2])) == [0] * 38 + [1, 2]
    assert row.filled(3, []) == row
