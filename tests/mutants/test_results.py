"""What is kept of a measurement, and what comes of explanations."""

from pathlib import Path

from tests.mutants.faults import Mutant, faulty
from tests.mutants.results import Explanation, Findings, explanations, findings, known, table

MODULE = "loop/_step.py"
MUTANTS = faulty(Path("m.py"), "def f(a):\n    return a < 3").mutants
SURVIVOR = next(it for it in MUTANTS if it.change == "a < 3 -> a <= 3")


def found(*explained: Explanation, **verdicts: str) -> Findings:
    by_change = {"none": MUTANTS[0], "boundary": SURVIVOR, "constant": MUTANTS[-1]}
    keys = {by_change[name].key: verdict.replace("_", " ") for name, verdict in verdicts.items()}
    return findings({MODULE: MUTANTS}, {MODULE: keys}, explained)


def because(mutant: Mutant) -> Explanation:
    return Explanation(MODULE, "f", (mutant.change,), "a is never 3")


def test_a_survivor_needs_an_explanation() -> None:
    bare = found(none="killed", boundary="survived", constant="timed_out")
    explained = found(because(SURVIVOR), none="killed", boundary="survived", constant="timed_out")

    assert bare.survivors == ((MODULE, SURVIVOR),)
    assert (bare.lines[0].killed, bare.lines[0].survived, bare.lines[0].explained) == (2, 1, 0)
    assert explained.survivors == ()
    assert (explained.lines[0].killed, explained.lines[0].explained) == (2, 1)
    assert explained.idle == ()


def test_an_explanation_of_a_killed_mutant_is_idle() -> None:
    assert found(because(SURVIVOR), boundary="killed").idle == (
        "loop/_step.py f a < 3 -> a <= 3: is killed",
    )


def test_an_explanation_of_what_is_gone_is_idle() -> None:
    gone = Explanation(MODULE, "f", ("a < 4 -> a <= 4",), "…")

    assert found(gone).idle == ("loop/_step.py f a < 4 -> a <= 4: no such mutant",)


def test_what_was_not_tried_is_counted_and_has_no_score() -> None:
    some = found(none="killed")

    assert found().lines[0].score is None
    assert some.unmeasured == 2
    assert some.lines[0].score == 100
    assert "2 not tried" in list(table(some))[1]


def test_what_is_kept_is_what_is_known_again(tmp_path: Path) -> None:
    """And what is known of mutants that are gone is forgotten."""
    first = known(MODULE, tmp_path)
    first.verdicts.update({SURVIVOR.key: "survived", MUTANTS[0].key: "killed", "gone": "killed"})
    first.write(MUTANTS)

    assert known(MODULE, tmp_path).verdicts == {SURVIVOR.key: "survived", MUTANTS[0].key: "killed"}


def test_every_explanation_has_a_reason() -> None:
    assert [it.function for it in explanations() if len(it.reason.split()) < 3] == []


def test_every_explained_mutant_is_there() -> None:
    """Whether it is killed is for `make mutants` to say: that takes long."""
    sources = Path(__file__).parents[2] / "src" / "stepfold"
    named = {name for it in explanations() for name in it.names()}
    there = {
        (module, mutant.function, mutant.change)
        for module in {module for module, _, _ in named}
        for mutant in faulty(sources / module, (sources / module).read_text("utf-8")).mutants
    }

    assert named - there == set()
