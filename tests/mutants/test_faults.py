"""Which faults are planted, which are not, and by what a mutant is known."""

from pathlib import Path

import pytest

from tests.mutants.faults import faulty

HERE = Path("module.py")


def changes(*body: str, header: str = "def f(a, b):") -> list[str]:
    text = "\n".join((header, *(f"    {line}" for line in body)))
    return [mutant.change for mutant in faulty(HERE, text).mutants]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a < b", ["a < b -> nothing", "a < b -> a <= b"]),
        ("return a is b", ["a is b -> None", "a is b -> a is not b"]),
        ("return 3", ["3 -> 4"]),
        ("return True", ["True -> False"]),
        ("a.b = not b", ["a.b = not b -> nothing", "not b -> b"]),
        ("a = b", []),
        ("a = a or b", ["a = a or b -> nothing", "a or b -> a and b"]),
        ("a += b", ["a += b -> nothing", "a += b -> a -= b"]),
        ("a = (*b, a)", ["a = (*b, a) -> nothing", "*b -> nothing", "a -> nothing"]),
        ("b = a[1:]", ["1 -> nothing", "1 -> 2"]),
        ("b = max(a, 'word')", ["max(a, 'word') -> min(a, 'word')", "'word' -> 'wordx'"]),
        ("c = a(x=b)", ["x=b -> nothing"]),
        ("b = isinstance(a, int | str)", ["isinstance(a, int | str) -> isinstance(a, (str,))",
                                          "isinstance(a, int | str) -> isinstance(a, (int,))"]),
        ("b = zip(a[1:], strict=True)", ["1 -> nothing", "1 -> 2"]),
        ("b = isinstance(a[1], int)", ["1 -> 2"]),
        ("b = [x for x in a if x]", ["x -> not x"]),
    ],
)  # fmt: skip
def test_each_decision_has_its_faults(line: str, expected: list[str]) -> None:
    assert changes(line) == expected


def test_alternatives_and_guards_of_patterns_are_decisions() -> None:
    found = changes("match a:", "    case 1 | 2 if b:", "        pass")

    assert found == [
        "b -> nothing",
        "b -> not b",
        "1 -> nothing",
        "2 -> nothing",
        "1 -> 2",
        "2 -> 3",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ('"""Two words."""',),
        ("a: int = b",),
        ("assert a < 3",),
        ("assert_never(a)",),
        ("b = cast('int', a)",),
        ("b = UsageError('word', 3)",),
        ("b = f'{a + 1}'",),
        ("if TYPE_CHECKING:", "    a()"),
    ],
)
def test_what_people_and_type_checkers_read_has_none(lines: tuple[str, ...]) -> None:
    assert changes(*lines) == []


def test_of_an_error_only_whether_it_is_raised_counts() -> None:
    assert changes("raise UsageError('word', 3)") == ["raise UsageError('word', 3) -> nothing"]


def test_what_is_shown_to_people_has_none() -> None:
    assert changes("return 3", header="def __repr__(self):") == []


def test_defaults_are_part_of_a_function() -> None:
    assert changes("return a", header="def f(a=1, *, b=True):")[:2] == ["1 -> 2", "True -> False"]


def test_a_mutant_is_known_by_its_function_and_nothing_else() -> None:
    """Lines above it, other functions and its own docstring may change."""
    one = faulty(HERE, "def f(a):\n    return a < 3")
    other = faulty(HERE, 'x = 1\n\n\ndef g(): ...\n\n\ndef f(a):\n    """Say."""\n    return a < 3')
    changed = faulty(HERE, "def f(a):\n    a()\n    return a < 3")

    assert [it.key for it in one.mutants] == [it.key for it in other.mutants]
    assert not {it.key for it in one.mutants} & {it.key for it in changed.mutants}


def test_equal_changes_in_one_function_are_told_apart() -> None:
    mutants = faulty(HERE, "def f(a):\n    a(1)\n    a(1)").mutants

    assert len({it.key for it in mutants}) == len({it.change for it in mutants}) == 4


def test_a_planted_fault_is_run() -> None:
    module = faulty(HERE, "def f(a):\n    return a < 3")
    [mutant] = (it for it in module.mutants if it.change == "a < 3 -> a <= 3")
    names: dict[str, object] = {}
    exec(module.planted(mutant), names)

    function = names["f"]
    assert callable(function)
    assert function(3) is True
