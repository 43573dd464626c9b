"""Tools that providers have of their own, as they go onto the wire."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import stepfold as sf
from stepfold.loop import fold_parts
from stepfold.providers import (
    Endpoint,
    GoogleDialect,
    MessagesDialect,
    ResponsesDialect,
    chat_model,
    protocol_named,
    xai_responses,
)
from stepfold.providers.anthropic_messages import encode_request as encode_messages
from stepfold.providers.anthropic_messages import tools as anthropic
from stepfold.providers.google_generate import encode_request as encode_google
from stepfold.providers.google_generate import google_dialect
from stepfold.providers.google_generate import tools as google
from stepfold.providers.openai_chat import encode_request as encode_chat
from stepfold.providers.openai_chat import tools as chat
from stepfold.providers.responses import encode_request as encode_responses
from stepfold.providers.responses import responses_decoder
from stepfold.providers.responses import tools as openai
from stepfold.providers.responses import xai_tools as xai
from stepfold.schema import encode_result
from stepfold.shell import AnyTool
from stepfold.values import (
    AssistantMessage,
    ContentOutput,
    ErrorTextOutput,
    File,
    FileUrl,
    JsonOutput,
    JsonText,
    ModelRequest,
    NamedTool,
    ProviderTool,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolOutput,
    ToolResult,
    UsageError,
    UserMessage,
)
from tests.providers.recordings import FOLDER, recorded

OSLO = openai.UserLocation(city="Oslo", country="NO")
NEAR_OSLO = {"type": "approximate", "city": "Oslo", "country": "NO"}

AnyOwn = ProviderTool | AnyTool[object, object]


def asked(*tools: AnyOwn, choice: str | None = None) -> ModelRequest:
    return ModelRequest(
        messages=(UserMessage("Hi"),),
        tools=tuple(tool.spec.definition for tool in tools if isinstance(tool, AnyTool)),
        provider_tools=tuple(tool for tool in tools if isinstance(tool, ProviderTool)),
        tool_choice="auto" if choice is None else NamedTool(choice),
    )


def body_of_openai(request: ModelRequest, provider: str = "openai") -> dict[str, object]:
    endpoint = Endpoint(
        model_id="m", base_url="http://x", dialect=ResponsesDialect(provider=provider)
    )
    body: dict[str, object] = json.loads(encode_responses(request, endpoint).request.body)
    return body


def body_of_anthropic(request: ModelRequest) -> tuple[dict[str, object], str]:
    endpoint = Endpoint(model_id="m", base_url="http://x", dialect=MessagesDialect())
    http = encode_messages(request, endpoint).request
    body: dict[str, object] = json.loads(http.body)
    return body, dict(http.headers).get("anthropic-beta", "")


def body_of_google(
    request: ModelRequest, dialect: GoogleDialect | None = None, base_url: str = "http://x"
) -> dict[str, object]:
    endpoint = Endpoint(model_id="m", base_url=base_url, dialect=dialect or GoogleDialect())
    body: dict[str, object] = json.loads(encode_google(request, endpoint).request.body)
    return body


def on_the_wire(tool: AnyOwn, owner: str) -> dict[str, object]:
    request = asked(tool)
    if owner == "anthropic":
        body, _ = body_of_anthropic(request)
    elif owner == "google":
        body = body_of_google(request)
    else:
        body = body_of_openai(request, owner)
    tools = body["tools"]
    assert isinstance(tools, list)
    (sent,) = tools
    assert isinstance(sent, dict)
    return sent


HOSTED = [
    (openai.web_search(), {"type": "web_search"}),
    (
        openai.web_search(
            search_context_size="low",
            user_location=OSLO,
            allowed_domains=["a.no"],
            blocked_domains=["b.no"],
            external_web_access=False,
        ),
        {
            "type": "web_search",
            "filters": {"allowed_domains": ["a.no"], "blocked_domains": ["b.no"]},
            "external_web_access": False,
            "search_context_size": "low",
            "user_location": NEAR_OSLO,
        },
    ),
    (
        openai.web_search_preview(search_context_size="high", user_location=OSLO),
        {
            "type": "web_search_preview",
            "search_context_size": "high",
            "user_location": NEAR_OSLO,
        },
    ),
    (
        openai.file_search(
            ["vs_1"],
            max_num_results=2,
            ranker="auto",
            score_threshold=0.5,
            filters={"type": "eq", "key": "a", "value": 1},
        ),
        {
            "type": "file_search",
            "vector_store_ids": ["vs_1"],
            "max_num_results": 2,
            "ranking_options": {"ranker": "auto", "score_threshold": 0.5},
            "filters": {"type": "eq", "key": "a", "value": 1},
        },
    ),
    (openai.code_interpreter(), {"type": "code_interpreter", "container": {"type": "auto"}}),
    (openai.code_interpreter("c"), {"type": "code_interpreter", "container": "c"}),
    (
        openai.code_interpreter(
            openai.Container(file_ids=("f",), memory_limit="4g", allowed_domains=("a.no",))
        ),
        {
            "type": "code_interpreter",
            "container": {
                "type": "auto",
                "file_ids": ["f"],
                "memory_limit": "4g",
                "network_policy": {"type": "allowlist", "allowed_domains": ["a.no"]},
            },
        },
    ),
    (
        openai.image_generation(output_format="webp", quality="low", partial_images=0),
        {
            "type": "image_generation",
            "output_format": "webp",
            "quality": "low",
            "partial_images": 0,
        },
    ),
    (
        openai.mcp("l", server_url="https://x", allowed_tools=["a"], authorization="k"),
        {
            "type": "mcp",
            "server_label": "l",
            "server_url": "https://x",
            "allowed_tools": ["a"],
            "authorization": "k",
            "require_approval": "never",
        },
    ),
    (
        openai.mcp("l", connector_id="c", only_reading=True, require_approval=["a"]),
        {
            "type": "mcp",
            "server_label": "l",
            "connector_id": "c",
            "allowed_tools": {"read_only": True},
            "require_approval": {"never": {"tool_names": ["a"]}},
        },
    ),
    (openai.tool_search(), {"type": "tool_search"}),
    (openai.programmatic_tool_calling(), {"type": "programmatic_tool_calling"}),
    (
        openai.hosted_shell("c"),
        {"type": "shell", "environment": {"type": "container_reference", "container_id": "c"}},
    ),
    (openai.hosted_shell(), {"type": "shell", "environment": {"type": "container_auto"}}),
    (
        anthropic.web_search(max_uses=1, blocked_domains=["b.no"], user_location=OSLO),
        {
            "type": "web_search_20250305",
            "name": "web_search",
            "max_uses": 1,
            "blocked_domains": ["b.no"],
            "user_location": NEAR_OSLO,
        },
    ),
    (
        anthropic.web_search(response_inclusion="excluded", version="20260318"),
        {
            "type": "web_search_20260318",
            "name": "web_search",
            "response_inclusion": "excluded",
        },
    ),
    (
        anthropic.web_fetch(citations=True, max_content_tokens=9, allowed_domains=["a.no"]),
        {
            "type": "web_fetch_20250910",
            "name": "web_fetch",
            "citations": {"enabled": True},
            "max_content_tokens": 9,
            "allowed_domains": ["a.no"],
        },
    ),
    (anthropic.code_execution(), {"type": "code_execution_20250825", "name": "code_execution"}),
    (
        anthropic.tool_search(by="regex"),
        {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
    ),
    (
        anthropic.advisor("m", max_tokens=1_024, cache_ttl="5m"),
        {
            "type": "advisor_20260301",
            "name": "advisor",
            "model": "m",
            "max_tokens": 1_024,
            "caching": {"type": "ephemeral", "ttl": "5m"},
        },
    ),
    (google.google_search(), {"googleSearch": {}}),
    (
        google.google_search(images=True, start_time="a", end_time="b"),
        {
            "googleSearch": {
                "searchTypes": {"webSearch": {}, "imageSearch": {}},
                "timeRangeFilter": {"startTime": "a", "endTime": "b"},
            }
        },
    ),
    (google.url_context(), {"urlContext": {}}),
    (google.code_execution(), {"codeExecution": {}}),
    (google.google_maps(), {"googleMaps": {}}),
    (google.enterprise_web_search(), {"enterpriseWebSearch": {}}),
    (
        google.file_search(["s"], top_k=3, metadata_filter="f"),
        {"fileSearch": {"fileSearchStoreNames": ["s"], "topK": 3, "metadataFilter": "f"}},
    ),
    (
        google.vertex_rag_store("c", top_k=3),
        {
            "retrieval": {
                "vertex_rag_store": {
                    "rag_resources": {"rag_corpus": "c"},
                    "similarity_top_k": 3,
                }
            }
        },
    ),
    (
        xai.x_search(allowed_x_handles=["a"], from_date="2026-01-01", to_date="2026-01-02"),
        {
            "type": "x_search",
            "allowed_x_handles": ["a"],
            "from_date": "2026-01-01",
            "to_date": "2026-01-02",
        },
    ),
    (
        xai.web_search(excluded_domains=["b.no"], enable_image_search=True),
        {"type": "web_search", "excluded_domains": ["b.no"], "enable_image_search": True},
    ),
    (xai.code_execution(), {"type": "code_interpreter"}),
    (xai.view_image(), {"type": "view_image"}),
    (xai.view_x_video(), {"type": "view_x_video"}),
    (xai.image_generation(action="edit"), {"type": "image_generation", "action": "edit"}),
    (xai.file_search(["c"]), {"type": "file_search", "vector_store_ids": ["c"]}),
    (
        xai.mcp("https://x", server_label="l", headers={"a": "b"}),
        {"type": "mcp", "server_url": "https://x", "server_label": "l", "headers": {"a": "b"}},
    ),
]


@pytest.mark.parametrize(("tool", "sent"), HOSTED)
def test_a_tool_of_the_provider_goes_as_its_wire_has_it(
    tool: ProviderTool, sent: dict[str, object]
) -> None:
    """Nothing is sent for what is not given."""
    assert on_the_wire(tool, tool.id.partition(".")[0]) == sent


def test_a_model_of_another_provider_is_not_told() -> None:
    request = asked(anthropic.web_search())

    assert "tools" not in body_of_openai(request)
    assert [w.subject for w in encode_chat(request, chat_model("ollama", "m").endpoint).warnings]


def test_chat_completions_of_groq_have_a_browser() -> None:
    model = chat_model("groq", "openai/gpt-oss-20b", api_key="k")
    body = json.loads(encode_chat(asked(chat.groq_browser_search()), model.endpoint).request.body)

    assert body["tools"] == [{"type": "browser_search"}]


# --- recordings -------------------------------------------------------------------------------

RECORDED = [
    openai.web_search(search_context_size="medium"),
    openai.web_search(search_context_size="medium", external_web_access=False),
    openai.web_search(search_context_size="medium", allowed_domains=["wikipedia.org"]),
    openai.web_search(
        search_context_size="medium",
        user_location=openai.UserLocation(city="Salvador", region="BRLO"),
    ),
    openai.code_interpreter(),
    openai.file_search(["vs_6931d72a43048191bbe7518b93c1d8ed"]),
    openai.mcp(
        "deepwiki",
        server_url="https://mcp.deepwiki.com/mcp",
        server_description="DeepWiki MCP server",
        allowed_tools=["ask_question"],
        headers={"custom-header-key": "custom-header-value"},
    ),
    anthropic.web_search(),
    anthropic.web_search(version="20260209"),
    anthropic.web_fetch(version="20260209"),
    anthropic.code_execution(version="20260120"),
    anthropic.advisor("claude-opus-4-8", max_tokens=1_024),
    google.google_search(),
]


def recorded_tools(host: str) -> Iterable[dict[str, object]]:
    for path in sorted(Path(FOLDER).glob("pydantic/**/*.json")):
        for exchange in json.loads(path.read_text("utf-8"))["exchanges"]:
            request = exchange["request"]
            if host in exchange["url"] and isinstance(request, dict):
                for tool in request.get("tools") or ():
                    yield {name: value for name, value in tool.items() if value is not None}


@recorded
@pytest.mark.parametrize("tool", RECORDED)
def test_a_real_request_has_declared_the_tool_so(tool: ProviderTool) -> None:
    """What another client sent, and the provider took."""
    owner = tool.id.partition(".")[0]
    host = {"google": "googleapis.com"}.get(owner, f"{owner}.com")

    assert on_the_wire(tool, owner) in list(recorded_tools(host))


@recorded
def test_a_memory_is_declared_as_in_a_real_request() -> None:
    @anthropic.memory()
    def memory(
        command: str,
        path: str = "",
        view_range: tuple[int, int] | None = None,
        file_text: str = "",
        old_str: str = "",
        new_str: str = "",
        insert_line: int = 0,
        insert_text: str = "",
        old_path: str = "",
        new_path: str = "",
    ) -> str:
        raise NotImplementedError

    assert on_the_wire(memory, "anthropic") in list(recorded_tools("anthropic.com"))


# What a real reply holds of tools that the provider runs: calls, and how many were answered in it.
ANSWERED = [
    ("vercel/anthropic/anthropic-web-search-tool.1.json", anthropic.web_search(), 2),
    ("vercel/anthropic/anthropic-web-fetch-tool.2.json", anthropic.web_fetch(), 1),
    ("vercel/anthropic/anthropic-web-fetch-tool.error.json", anthropic.web_fetch(), 1),
    ("vercel/anthropic/anthropic-code-execution-20250825.2.json", anthropic.code_execution(), 3),
    ("vercel/anthropic/anthropic-advisor-20260301.1.json", anthropic.advisor("m"), 1),
    ("vercel/anthropic/anthropic-tool-search-bm25.1.json", anthropic.tool_search(), 1),
    ("vercel/azure/azure-code-interpreter-tool.1.json", openai.code_interpreter(), 1),
    ("vercel/openai/responses/openai-file-search-tool.2.json", openai.file_search([]), 1),
    ("vercel/openai/responses/openai-image-generation-tool.1.json", openai.image_generation(), 1),
    ("vercel/openai/responses/openai-shell-skills.1.json", openai.hosted_shell(), 2),
    ("vercel/xai/responses/xai-file-search-tool.1.json", xai.file_search([]), 1),
]


@recorded
@pytest.mark.parametrize(("name", "tool", "count"), ANSWERED)
def test_a_real_reply_holds_calls_and_results_of_the_tool(
    name: str, tool: ProviderTool, count: int
) -> None:
    """The provider ran them, and nothing is left for the run to do."""
    protocol = "anthropic-messages" if "/anthropic/" in name else "openai-responses"
    owner = tool.id.partition(".")[0]
    body = Path(FOLDER, name).read_bytes()
    reply = protocol_named(protocol).load().decode(body, owner).unwrap()
    calls = [
        part for part in reply.content if isinstance(part, ToolCall) and tool.makes(part.tool_name)
    ]
    results = {part.tool_call_id for part in reply.content if isinstance(part, ToolResult)}

    assert len(calls) == count
    assert all(call.provider_executed and call.tool_call_id in results for call in calls)


@recorded
def test_what_xai_searched_is_no_call_to_be_answered_here() -> None:
    name = "vercel/xai/responses/xai-x-search-tool.chunks.txt"
    lines = Path(FOLDER, name).read_text("utf-8").splitlines()
    decoder = responses_decoder("xai")
    parts = decoder.feed("".join(f"data: {line}\n\n" for line in lines).encode())
    reply = fold_parts([*parts, *decoder.end()])
    calls = [part for part in reply.content if isinstance(part, ToolCall)]

    assert {call.tool_name for call in calls} >= {"x_keyword_search", "view_x_video"}
    assert all(call.provider_executed for call in calls)
    assert json.loads(calls[0].input)["query"] == "from:xai filter:media"
    assert reply.finish_reason.unified == "stop"
    said = AssistantMessage(calls)
    items = body_of_openai(ModelRequest(messages=(UserMessage("Hi"), said)), "xai")["input"]
    assert isinstance(items, list)
    assert items[1]["input"] == calls[0].input


# --- run here ---------------------------------------------------------------------------------


def run_commands(action: openai.ShellAction) -> openai.ShellResult:
    done = openai.ExitOutcome(exit_code=0)
    outputs = [openai.CommandOutput(stdout=c, stderr="", outcome=done) for c in action.commands]
    return openai.ShellResult(output=tuple(outputs))


def run_program(action: openai.ExecAction) -> str:
    return " ".join(action.command)


def patch(operation: openai.PatchOperation) -> openai.PatchResult:
    return openai.PatchResult(output=operation.path)


def act(
    actions: list[dict[str, object]],
    pending_safety_checks: tuple[openai.SafetyCheck, ...] = (),
) -> openai.ScreenshotResult:
    return openai.ScreenshotResult(output=openai.Screenshot(image_url="data:,"))


def write(input: str) -> str:
    return input


def run_bash(command: str = "", restart: bool = False) -> str:
    return command


def edit(
    command: str,
    path: str,
    file_text: str = "",
    old_str: str = "",
    new_str: str = "",
    insert_line: int = 0,
    insert_text: str = "",
    view_range: list[int] | None = None,
) -> str:
    return path


def use(
    action: str,
    coordinate: tuple[int, int] | None = None,
    text: str = "",
    start_coordinate: tuple[int, int] | None = None,
    scroll_amount: int = 0,
    scroll_direction: str = "",
    duration: float = 0,
    region: tuple[int, int, int, int] | None = None,
) -> str:
    return action


DEFINED: list[tuple[AnyTool[object, object], str, dict[str, object], str]] = [
    (
        openai.shell()(run_commands),
        "openai",
        {"type": "shell", "environment": {"type": "local"}},
        "",
    ),
    (openai.local_shell()(run_program), "openai", {"type": "local_shell"}, ""),
    (openai.apply_patch()(patch), "openai", {"type": "apply_patch"}, ""),
    (openai.computer()(act), "openai", {"type": "computer"}, ""),
    (
        openai.custom("write", description="Write.", grammar="a+", syntax="regex")(write),
        "openai",
        {
            "type": "custom",
            "name": "write",
            "description": "Write.",
            "format": {"type": "grammar", "syntax": "regex", "definition": "a+"},
        },
        "",
    ),
    (
        anthropic.bash()(run_bash),
        "anthropic",
        {"name": "bash", "type": "bash_20250124"},
        "computer-use-2025-01-24",
    ),
    (
        anthropic.text_editor(max_characters=9)(edit),
        "anthropic",
        {
            "name": "str_replace_based_edit_tool",
            "type": "text_editor_20250728",
            "max_characters": 9,
        },
        "",
    ),
    (
        anthropic.computer(
            display_width_px=800, display_height_px=600, enable_zoom=True, version="20251124"
        )(use),
        "anthropic",
        {
            "name": "computer",
            "type": "computer_20251124",
            "display_width_px": 800,
            "display_height_px": 600,
            "enable_zoom": True,
        },
        "computer-use-2025-11-24",
    ),
]


@pytest.mark.parametrize(("tool", "owner", "sent", "beta"), DEFINED)
def test_a_tool_that_the_provider_defines_goes_without_a_schema(
    tool: AnyTool[object, object], owner: str, sent: dict[str, object], beta: str
) -> None:
    """Its models know what it takes."""
    assert on_the_wire(tool, owner) == sent
    if owner == "anthropic":
        assert body_of_anthropic(asked(tool))[1] == beta


def test_other_providers_are_told_of_it_as_of_a_function() -> None:
    tool = anthropic.bash().with_options(title="Shell")(run_bash)
    sent = on_the_wire(tool, "openai")

    assert (sent["type"], sent["name"]) == ("function", "bash")
    assert tool.spec.title == "Shell"


def test_a_function_has_to_take_what_models_give() -> None:
    def wrong(command: str) -> str:
        raise NotImplementedError

    with pytest.raises(UsageError, match=r'anthropic bash: .* takes \{"restart":true\}, as models'):
        anthropic.bash()(wrong)
    with pytest.raises(UsageError, match="openai shell: expected a function that takes"):
        openai.shell().by_client()(wrong)


def test_a_method_is_read_when_it_is_bound() -> None:
    class Shell:
        @anthropic.bash()
        def run(self, command: str = "", restart: bool = False) -> str:
            return f"{command}!"

    tool = Shell().run

    assert (tool.name, tool(command="ls")) == ("bash", "ls!")


def test_somebody_else_may_run_it() -> None:
    tool = anthropic.bash().by_client(needs_approval=True)(run_bash)

    assert not tool.spec.executes
    assert tool.spec.approval == "always"
    assert on_the_wire(tool, "anthropic")["type"] == "bash_20250124"


def test_a_function_is_what_is_decorated() -> None:
    given: list[Callable[[], str]] = json.loads("[7]")

    with pytest.raises(UsageError, match="anthropic bash: expected a function, got 7"):
        anthropic.bash()(given[0])


def test_a_tool_is_chosen_by_its_type() -> None:
    def chosen(tool: AnyOwn, name: str) -> object:
        return body_of_openai(asked(tool, choice=name))["tool_choice"]

    assert chosen(openai.shell()(run_commands), "shell") == {"type": "shell"}
    assert chosen(openai.custom("w")(write), "w") == {"type": "custom", "name": "w"}
    assert chosen(openai.mcp("l", server_url="u"), "mcp_l") == {"type": "mcp", "server_label": "l"}
    assert chosen(openai.web_search(), "web_search") == {"type": "web_search"}


def answer_of(kind: str, output: ToolOutput) -> dict[str, object]:
    """What goes back to OpenAI where a call of a kind came to this."""
    kept = JsonText.of({"openai": {"item": {"type": kind}}})
    call = ToolCall("c", "t", "{}", provider_options=kept)
    history = (
        UserMessage("Hi"),
        AssistantMessage((call,)),
        ToolMessage((ToolResult("c", "t", output),)),
    )
    items = body_of_openai(ModelRequest(messages=history))["input"]
    assert isinstance(items, list)
    answer: dict[str, object] = items[-1]
    return answer


def encoded(value: object) -> JsonOutput:
    return JsonOutput(encode_result(value).unwrap())


def test_results_go_back_in_the_form_of_their_tools() -> None:
    result = run_commands(openai.ShellAction(commands=("ls",)))

    assert answer_of("shell_call", encoded(result)) == {
        "type": "shell_call_output",
        "call_id": "c",
        "output": [{"stdout": "ls", "stderr": "", "outcome": {"exit_code": 0, "type": "exit"}}],
    }
    assert answer_of("apply_patch_call", encoded(openai.PatchResult())) == {
        "type": "apply_patch_call_output",
        "call_id": "c",
        "status": "completed",
    }
    assert answer_of("computer_call", encoded(act([]))) == {
        "type": "computer_call_output",
        "call_id": "c",
        "output": {"type": "computer_screenshot", "image_url": "data:,"},
        "acknowledged_safety_checks": [],
    }
    assert answer_of("local_shell_call", TextOutput("ls")) == {
        "type": "local_shell_call_output",
        "id": "c",
        "output": "ls",
    }


def test_failures_go_back_in_the_form_of_their_tools() -> None:
    failed = ErrorTextOutput("It broke.")

    assert answer_of("shell_call", failed)["output"] == [
        {"stdout": "", "stderr": "It broke.", "outcome": {"type": "exit", "exit_code": 1}}
    ]
    assert answer_of("apply_patch_call", failed) == {
        "type": "apply_patch_call_output",
        "call_id": "c",
        "status": "failed",
        "output": "It broke.",
    }
    assert answer_of("computer_call", failed)["output"] == "It broke."


def test_a_picture_is_a_screenshot() -> None:
    """So that one function does for the computers of two providers."""
    shown = ContentOutput((Text("There."), File(FileUrl("https://x/a.png"), "image/png")))

    assert answer_of("computer_call", shown)["output"] == {
        "type": "computer_screenshot",
        "image_url": "https://x/a.png",
    }
    words = answer_of("computer_call", ContentOutput((Text("There."),)))["output"]
    assert words == [{"type": "input_text", "text": "There."}]


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: openai.mcp("l"), "expected server_url or connector_id, got neither"),
        (lambda: openai.mcp("l", server_url="a", connector_id="b"), "mcp l: .* got both"),
        (
            lambda: anthropic.web_search(allowed_domains=[], blocked_domains=[]),
            "blocked_domains, got both",
        ),
        (
            lambda: anthropic.web_search(response_inclusion="full"),
            "web_search_20250305: expected only what this version takes .* got response_inclusion",
        ),
        (
            lambda: anthropic.text_editor(max_characters=1, version="20250429"),
            r"takes \(nothing\), got max_characters",
        ),
        (lambda: google.google_search(web=False), "expected web or images"),
        (lambda: google.google_search(start_time="a"), "expected start_time and end_time"),
        (
            lambda: xai.x_search(allowed_x_handles=[], excluded_x_handles=[]),
            "excluded_x_handles, got both",
        ),
    ],
)
def test_what_no_server_takes_is_refused_at_once(make: Callable[[], object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make()


def test_a_secret_of_a_server_is_not_printed() -> None:
    tool = openai.mcp("l", server_url="https://x", authorization="hush-hush")

    assert "hush-hush" not in repr(tool)


# --- beside functions -------------------------------------------------------------------------


@sf.tool
def warm(city: str) -> bool:
    """Tell whether a city is warm."""
    raise NotImplementedError


def test_google_is_told_that_functions_stand_beside_its_own_tools() -> None:
    request = asked(warm, google.google_search())

    assert body_of_google(request)["toolConfig"] == {
        "functionCallingConfig": {"mode": "VALIDATED"},
        "includeServerSideToolInvocations": True,
    }
    vertex = body_of_google(request, base_url="https://x/publishers/google/")
    assert vertex["toolConfig"] == {"functionCallingConfig": {"mode": "VALIDATED"}}


def test_older_models_of_google_warn_of_the_mixture() -> None:
    endpoint = Endpoint(model_id="m", base_url="http://x", dialect=google_dialect("gemini-2.5-pro"))
    call = encode_google(asked(warm, google.google_search()), endpoint)

    assert [w.subject for w in call.warnings] == ["functions beside provider tools"]
    assert "toolConfig" not in json.loads(call.request.body)


def test_google_runs_nothing_where_no_tool_may_be_called() -> None:
    request = ModelRequest(
        messages=(UserMessage("Hi"),),
        provider_tools=(google.google_search(),),
        tool_choice="none",
    )

    assert "tools" not in body_of_google(request)


def test_servers_of_tools_are_asked_for_by_a_header() -> None:
    server = anthropic.mcp_server("wiki", "https://x", allowed_tools=["ask"])
    options = JsonText.of({"anthropic": {"mcp_servers": [server]}})
    request = ModelRequest(messages=(UserMessage("Hi"),), provider_options=options)
    body, betas = body_of_anthropic(request)

    assert body["mcp_servers"] == [
        {
            "type": "url",
            "name": "wiki",
            "url": "https://x",
            "tool_configuration": {"allowed_tools": ["ask"]},
        }
    ]
    assert betas == "mcp-client-2025-04-04"


def test_xai_is_reached_over_responses() -> None:
    model = xai_responses("grok-4", api_key="k")
    request = asked(xai.web_search())
    body = json.loads(encode_responses(request, model.endpoint).request.body)

    assert model.endpoint.base_url == "https://api.x.ai/v1"
    assert body["include"] == ["reasoning.encrypted_content"]
