import sys

import pytest

from tests.cli._desk import Command

SUMS = ("--model", "desk:sums")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--model", "openai/gpt-5.4"), "set the environment variable OPENAI_API_KEY"),
        (("--model", "openai:gpt-5.4"), "set the environment variable OPENAI_API_KEY"),
        (("--model", "anthropic/x"), "set the environment variable ANTHROPIC_API_KEY"),
        (("--model", "openai-compatible/x"), "set the environment variable OPENAI_COMPATIBLE_BASE"),
        (("--model", "nobody/x"), "there is no provider 'nobody'; there are "),
        (("--model", "nobody/x"), "is openai-compatible/x, at OPENAI_COMPATIBLE_BASE_URL"),
        (("--model", "nobody"), "expected a model as provider/model, such as openai/gpt-5.4"),
        (("--model", "local/gpt-7"), "there is local/smollm2"),
        (("--model", "local:gpt-7"), "there is local/smollm2"),
        (("--model", "nowhere:model"), "--model: there is no module 'nowhere' in "),
        (("--model", "desk:nothing"), "the module desk has no 'nothing'"),
        (("--model", "desk:no_tool"), "expected a language model, got the function no_tool"),
        (("--model", "desk:Box"), "expected a language model, got the class Box"),
        (("--model", "broken:x"), "importing broken failed: AttributeError: "),
        (("--model", "lacking:x"), "importing lacking failed: ModuleNotFoundError: No module"),
        ((*SUMS, "--tools", "desk"), "expected module:name, such as my_tools:weather; it holds"),
        ((*SUMS, "--tools", "desk:"), "expected module:name, such as my_tools:weather, got"),
        ((*SUMS, "--tools", ":add"), "expected module:name, such as my_tools:weather, got"),
        ((*SUMS, "--tools", "desk:subtract"), "it holds the tools add, delete, count, look, free"),
        ((*SUMS, "--tools", "json:dumps"), "got the function dumps: make a tool of a function by"),
        ((*SUMS, "--tools", "json:nothing"), "the module json has no 'nothing'; it holds no tools"),
        ((*SUMS, "--tools", "desk:Box.mixed"), "expected a tool, or a list of tools, got"),
        ((*SUMS, "--tools", "desk:look"), "the tool look needs deps of the type Database"),
    ],
)
def test_a_mistake_in_a_name_is_told_with_what_to_do(
    arguments: tuple[str, ...], told: str, stepfold: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_COMPATIBLE_BASE_URL", raising=False)
    done = stepfold("run", "Hi.", *arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert told in done.err
    assert "Python" not in done.err


@pytest.mark.parametrize(
    "named",
    [
        ("--tools", "desk:add,delete"),
        ("--tools", "desk:Box.both"),
        ("--tools", "desk:add", "--tools", "desk:delete"),
    ],
)
def test_tools_are_named_alone_in_lists_and_several_times(
    named: tuple[str, ...], stepfold: Command
) -> None:
    assert stepfold("run", "Hi.", *SUMS, *named, "--tools", "desk:free").code == 0
    sums = sys.modules["desk"].sums

    assert [tool.name for tool in sums.requests[0].tools] == ["add", "delete", "free"]
