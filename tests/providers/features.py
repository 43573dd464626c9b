"""What can be said over each protocol, and the test that backs it: one source for the reference.

`python -m tests.providers.features` writes the table into the page on providers anew. A cell is
*supported* only where recorded traffic or an official client confirms it; *warns* where a reply
says that something was left out; *not in the protocol* where there is nothing to say it with; and
*unverified* where our own tests alone speak for it, or nothing does.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, final

from attrs import frozen

from stepfold.providers import PROTOCOLS

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "reference" / "providers.md"
BEGIN: Final = "<!-- features: written by python -m tests.providers.features -->"
END: Final = "<!-- end of features -->"

State: TypeAlias = Literal["supported", "warns", "not in the protocol", "unverified"]


@final
@frozen(order=False)
class Cell:
    """What is so, and the test that shows it: `path::function`, or with the id of a case."""

    state: State
    test: str = ""


@final
@frozen(order=False)
class Feature:
    """A row: what it is, and a cell for each protocol by name; `unverified` where there is none."""

    name: str
    cells: Mapping[str, Cell]


COLUMNS: Final = {
    "openai-responses": "Responses",
    "openai-chat": "Chat",
    "anthropic-messages": "Messages",
    "google-generate": "Google",
    "bedrock-converse": "Converse",
    "mistral-chat": "Mistral",
    "cohere-chat": "Cohere",
    "ai-gateway": "Gateway",
}
R, C, A, G, B, M, K, W = COLUMNS
_WIRE: Final = "tests/wire/"
_ASKED: Final = {
    R: "test_official_openai.py::test_responses_are_asked_as_by_the_official_client",
    C: "test_official_openai.py::test_chat_completions_are_asked_as_by_the_official_client",
    A: "test_official_anthropic.py::test_messages_are_asked_as_by_the_official_client",
    G: "test_official_google.py::test_content_is_asked_as_by_the_official_client",
    M: "test_official_mistral.py::test_mistral_is_asked_as_by_the_official_client",
    W: "test_ai_sdk.py::test_the_gateway_is_asked_as_its_own_client_asks_it",
}
_BACK: Final = {
    R: "test_official_openai.py::test_what_a_response_said_goes_back_as_by_the_official_client",
    A: "test_official_anthropic.py::test_what_a_message_said_goes_back_as_by_the_official_client",
    G: "test_official_google.py::test_what_a_model_said_goes_back_as_by_the_official_client",
    W: _ASKED[W],
}
_UNDERSTOOD: Final = f"{_WIRE}test_ai_sdk.py::test_an_answer_is_understood_as_its_own_client_does"
_DECLARED: Final = (
    f"{_WIRE}test_ai_sdk.py::test_tools_of_providers_are_declared_as_the_sdk_declares_them"
)
_CONVERSE: Final = "tests/providers/bedrock_converse/test_encode.py::"

# What recordings show of a reply, by protocol: `test_features.py` looks for each.
SHOWN: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "text": (R, C, A, G, B, M, K),
        "reasoning": (R, C, A, G, B, M, K),
        "calls": (R, C, A, G, B, M, K),
        "parallel calls": (R, C, A, G, B, K),
        "calls of the provider, and results": (R, A, G),
        "results in a later reply": (A,),
        "requests for approval": (R,),
        "sources": (R, A, G, K),
        "usage": (R, C, A, G, B, M, K),
        "cached input": (R, C, A, G, B, M, K),
        "reasoning tokens": (R, C, A, G),
        "raw finish reasons": (R, C, A, G, B, M, K),
        "metadata of the response": (R, C, A, G, M, K),
        "errors": (R, C, A, B),
        "errors inside of a stream": (R,),
    }
)


def _shown(feature: str) -> dict[str, Cell]:
    return {
        protocol: Cell(
            "supported",
            f"tests/providers/test_features.py::test_recordings_show[{protocol}: {feature}]",
        )
        for protocol in SHOWN[feature]
    }


def _asked(case: str, *protocols: str) -> dict[str, Cell]:
    return {
        protocol: Cell("supported", f"{_WIRE}{_ASKED[protocol]}[{case}]") for protocol in protocols
    }


def _by_gateway(test: str) -> dict[str, Cell]:
    return {W: Cell("supported", test)}


def _converse(function: str) -> dict[str, Cell]:
    return {B: Cell("supported", f"{_CONVERSE}{function}")}


def _absent(*protocols: str) -> dict[str, Cell]:
    return {protocol: Cell("not in the protocol") for protocol in protocols}


def _warns(**tests: str) -> dict[str, Cell]:
    known = {"R": R, "C": C, "A": A, "G": G, "B": B, "M": M, "K": K}
    return {known[key]: Cell("warns", f"tests/providers/{test}") for key, test in tests.items()}


_GATEWAY_ASKS: Final = _by_gateway(f"{_WIRE}{_ASKED[W]}")
_GATEWAY_UNDERSTANDS: Final = _by_gateway(_UNDERSTOOD)
# The cases of each are made of a list of this name.
_CHOICES: Final = {
    R: "RESPONSES_CHOICES",
    C: "CHAT_CHOICES",
    A: "CHOICES",
    G: "CHOICES",
    M: "CHOICES",
}
_CALLS: Final = "parallel calls and their results"
_SETTINGS: Final = "instructions and settings"

FEATURES: Final[tuple[Feature, ...]] = (
    Feature("text, whole and streamed", _shown("text") | _GATEWAY_UNDERSTANDS),
    Feature("reasoning", _shown("reasoning") | _GATEWAY_UNDERSTANDS),
    Feature(
        "reasoning goes into the next turn",
        {name: Cell("supported", f"{_WIRE}{test}") for name, test in _BACK.items()}
        | _converse("test_a_turn_with_tools_goes_back"),
    ),
    Feature(
        "how much to reason",
        _asked("reasoning", R, C, A, G)
        | _converse("test_each_family_is_told_to_reason_in_its_own_words")
        | _GATEWAY_ASKS,
    ),
    Feature("instructions", _asked(_SETTINGS, R, C, A, G, M) | _GATEWAY_ASKS),
    Feature(
        "`temperature`, `top_p`, a limit of tokens",
        _asked(_SETTINGS, R, C, G, M)
        | _asked("a temperature, for a model that takes one", A)
        | _converse("test_the_whole_of_a_simple_request")
        | _GATEWAY_ASKS,
    ),
    Feature(
        "`seed`",
        _asked(_SETTINGS, C, G, M)
        | _GATEWAY_ASKS
        | _warns(
            R="responses/test_encode.py::test_settings_and_what_has_no_place",
            A="anthropic_messages/test_encode.py::test_settings",
            B="bedrock_converse/test_encode.py::test_settings_without_a_word_are_warned_of",
        ),
    ),
    Feature(
        "images in",
        _asked("images and a file", R, C, A)
        | _asked("images", G)
        | _asked("an image", M)
        | _converse("test_files")
        | _GATEWAY_ASKS,
    ),
    Feature(
        "PDFs in",
        _asked("images and a file", R, C, A) | _converse("test_files") | _GATEWAY_ASKS,
    ),
    Feature("files out", _absent(A, B, M, K)),
    Feature("sources and citations", _shown("sources") | _GATEWAY_UNDERSTANDS),
    Feature("calls of functions", _shown("calls") | _GATEWAY_UNDERSTANDS),
    Feature(
        "several calls at once, and their results",
        _shown("parallel calls")
        | _asked(_CALLS, R, C, A, G)
        | _asked("calls and their results", M)
        | _GATEWAY_UNDERSTANDS,
    ),
    Feature(
        "tool choice",
        {
            name: Cell("supported", f"{_WIRE}{_ASKED[name]}[{case}]")
            for name, case in _CHOICES.items()
        }
        | _converse("test_the_choice_of_tools")
        | _GATEWAY_ASKS,
    ),
    Feature(
        "an answer by a schema",
        _asked("an answer by a schema", R, C, A, G, M)
        | _converse("test_the_form_of_a_reply")
        | _GATEWAY_ASKS,
    ),
    Feature(
        "tools that the provider runs",
        _shown("calls of the provider, and results")
        | _by_gateway(_DECLARED)
        | _warns(
            C="test_own_tools.py::test_a_model_of_another_provider_is_not_told",
        ),
    ),
    Feature(
        "tools that the provider defines, run here",
        {name: Cell("supported", _DECLARED) for name in (R, A, W)} | _absent(C, B, M, K),
    ),
    Feature(
        "results of the provider in a later reply",
        _shown("results in a later reply") | _absent(C, G, B, M, K),
    ),
    Feature(
        "approvals that the provider asks for",
        _shown("requests for approval") | _absent(C, A, G, B, M, K),
    ),
    Feature(
        "a prompt that is kept in a cache",
        _asked("a prompt that is kept", A)
        | _asked("options", R, C, G)
        | _converse("test_cache_points_and_guarded_texts_stand_where_they_were_put")
        | _absent(M, K),
    ),
    Feature(
        "options of a call",
        _asked("options", R, C, A, G)
        | _converse("test_options_of_the_request_are_added")
        | _GATEWAY_ASKS,
    ),
    Feature(
        "options of messages and parts",
        _asked("a prompt that is kept", A)
        | _asked("options of a part", R, G)
        | _converse("test_cache_points_and_guarded_texts_stand_where_they_were_put")
        | _GATEWAY_ASKS,
    ),
    Feature("usage", _shown("usage") | _GATEWAY_UNDERSTANDS),
    Feature("usage: input from a cache", _shown("cached input") | _GATEWAY_UNDERSTANDS),
    Feature("usage: reasoning", _shown("reasoning tokens") | _absent(B) | _GATEWAY_UNDERSTANDS),
    Feature("raw finish reasons", _shown("raw finish reasons") | _GATEWAY_UNDERSTANDS),
    Feature(
        "id and model of the response",
        _shown("metadata of the response") | _absent(B) | _GATEWAY_UNDERSTANDS,
    ),
    Feature(
        "errors by kind",
        _shown("errors")
        | _by_gateway(
            f"{_WIRE}test_ai_sdk.py::test_what_may_be_tried_again_is_what_its_own_client_tries_again"
        ),
    ),
    Feature("errors inside of a stream", _shown("errors inside of a stream")),
)
"""The rows."""


def table() -> str:
    """The table in Markdown, of the protocols that there are; hovering shows the test."""
    spoken = [name for name in COLUMNS if name in {entry.name for entry in PROTOCOLS}]
    lines = [
        "| | " + " | ".join(COLUMNS[name] for name in spoken) + " |",
        "| --- |" + " --- |" * len(spoken),
    ]
    for feature in FEATURES:
        cells = [_written(feature.cells.get(name, Cell("unverified"))) for name in spoken]
        lines.append(f"| {feature.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _written(cell: Cell) -> str:
    if not cell.test:
        return cell.state
    return f'<abbr title="{cell.test}">{cell.state}</abbr>'


def page_with_table() -> str:
    """The page on providers, with the table as it is now.

    Raises:
        ValueError: the page has no place for it.
    """
    text = PAGE.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE}: expected {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), "utf-8")
