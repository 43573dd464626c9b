from tests.cli._desk import Command


def test_the_history_is_kept_until_the_input_ends(stepfold: Command) -> None:
    done = stepfold("chat", "--model", "desk:tidy", typed="hello\n\nhello\n")

    assert (done.code, done.err) == (0, "")
    assert "you> hello\nYou said 1 things.\n" in done.out
    assert "You said 3 things.\n" in done.out
    assert done.out.count("1 step · 10 tokens in, 5 out · ") == 2


def test_a_call_runs_once_it_is_approved(stepfold: Command) -> None:
    done = stepfold("chat", "-m", "desk:tidy", "-t", "desk:delete", typed="x.txt\ny\n")

    assert done.code == 0
    assert (
        '  ? delete(path="x.txt")\n'
        "    run it? [y/n, or n and why] y\n"
        "  ← delete: x.txt is gone\n"
        "Tidy: "
    ) in done.out


def test_a_refused_call_does_not_run_and_the_model_is_told_why(stepfold: Command) -> None:
    done = stepfold("chat", "-m", "desk:tidy", "-t", "desk:delete", typed="x.txt\nno, it is mine\n")

    assert done.code == 0
    assert "  ← delete: denied: it is mine\nTidy: DeniedOutput(reason='it is mine'" in done.out
    assert "is gone" not in done.out


def test_an_answer_that_is_neither_yes_nor_no_is_asked_for_again(stepfold: Command) -> None:
    done = stepfold("chat", "-m", "desk:tidy", "-t", "desk:delete", typed="x.txt\n\nmaybe\nYES\n")

    assert done.out.count("please say y or n") == 2
    assert "  ← delete: x.txt is gone\n" in done.out


def test_an_input_that_ends_before_the_answer_leaves_it_blocked(stepfold: Command) -> None:
    done = stepfold("chat", "-m", "desk:tidy", "-t", "desk:delete", typed="x.txt\n")

    assert done.code == 4
    assert done.out.endswith("blocked: an answer is needed for delete\n")


def test_a_failure_does_not_end_the_conversation(stepfold: Command) -> None:
    done = stepfold("chat", "-m", "desk:locked", typed="hello\nhello\n")

    assert done.code == 0
    assert done.err == "error: authentication (401): no such key\n" * 2
