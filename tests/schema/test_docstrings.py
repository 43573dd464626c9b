"""The three habits of writing docstrings are understood."""

import pytest

from stepfold.schema._docstrings import Documentation, documentation_of

GOOGLE = """Say hello.

    More about it: a colon.

    Args:
        name: Who is greeted,
            by name.
        *rest: More.

        count (int): How often.
        malformed

    Note:
        Not for the model.
    Still the description.

    Raises:
        ValueError: never.
    """

NUMPY = """Say hello.

    More about it.

    Parameters
    ----------
    name : str
        Who is greeted,
        by name.
    first, second : int
        Numbers.
    * odd

    Returns
    -------
    str
        The greeting.
    """

SPHINX = """Say hello.

    :param name: Who is greeted,
        by name.
    :param int count: How often.
    :returns: The greeting.
    """


def test_google() -> None:
    documentation = documentation_of(GOOGLE)

    assert documentation.description == (
        "Say hello.\n\nMore about it: a colon.\n\nStill the description."
    )
    assert documentation.entries == (
        ("name", "Who is greeted, by name."),
        ("rest", "More."),
        ("count", "How often."),
    )


def test_numpy() -> None:
    documentation = documentation_of(NUMPY)

    assert documentation.description == "Say hello.\n\nMore about it."
    assert documentation.entries == (
        ("name", "Who is greeted, by name."),
        ("first", "Numbers."),
        ("second", "Numbers."),
    )


def test_sphinx() -> None:
    documentation = documentation_of(SPHINX)

    assert documentation.description == "Say hello."
    assert documentation.of("name") == "Who is greeted, by name."
    assert documentation.of("count") == "How often."
    assert documentation.of("other") == ""


@pytest.mark.parametrize("kind", ["param", "parameter", "arg", "argument", "key", "ivar"])
def test_sphinx_has_many_words_for_a_parameter(kind: str) -> None:
    documentation = documentation_of(f":{kind} name: Who.\n:{kind}: Nobody.\n:raises Bad: Never.")

    assert documentation.entries == (("name", "Who."),)


def test_no_docstring_says_nothing() -> None:
    assert documentation_of(None) == Documentation("", ())


def test_section_may_be_the_last_line() -> None:
    assert documentation_of("Say hello.\n\nArgs:").description == "Say hello."
    assert documentation_of("Args\n----\n    too deep\na\n    b").of("a") == "b"
    assert documentation_of("Args:\n\n    lonely\n").entries == ()


def test_numpy_section_may_be_empty_at_the_end() -> None:
    assert documentation_of("Say hello.\n\nReturns\n-------").description == "Say hello."


def test_only_entry_may_go_on_in_the_next_line() -> None:
    documentation = documentation_of("Say hello.\n\nArgs:\n    name: Who,\n        by name.\n")

    assert documentation.entries == (("name", "Who, by name."),)
