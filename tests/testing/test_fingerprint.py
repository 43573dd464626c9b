"""What a request is known by, from run to run."""

import json
import subprocess
import sys

from attrs import evolve

import stepfold as sf
from stepfold.testing import ScriptedModel, call, fingerprint_of, reply, standard_form
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    CallSettings,
    File,
    FileBytes,
    FileUrl,
    JsonOutput,
    JsonText,
    ModelRequest,
    NamedTool,
    ProviderTool,
    Text,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

WEATHER = ToolDefinition("weather", "Ask.", JsonText('{"type":"object","properties":{}}'))


def request(call_id: str = "c1", *, text: str = '{"city":"Oslo"}') -> ModelRequest:
    return ModelRequest(
        messages=(
            UserMessage("Is it warm?"),
            AssistantMessage((ToolCall(call_id, "weather", text),)),
            ToolMessage((ToolResult(call_id, "weather", JsonOutput(JsonText("17"))),)),
        ),
        tools=(WEATHER,),
    )


def test_ids_keys_and_headers_are_of_no_account() -> None:
    other = evolve(request("run/7/0"), key="other/1/0", headers=(("authorization", "Bearer x"),))

    assert fingerprint_of(request("c1")) == fingerprint_of(other)


def test_nor_is_the_order_of_keys_in_a_schema() -> None:
    turned = evolve(WEATHER, input_schema=JsonText('{ "properties": {}, "type": "object" }'))

    assert fingerprint_of(request()) == fingerprint_of(evolve(request(), tools=(turned,)))


def test_what_is_asked_is_of_account() -> None:
    asked = request()
    others = [
        asked,
        request(text='{"city":"Rome"}'),
        evolve(asked, messages=asked.messages[:1]),
        evolve(asked, instructions="Be brief."),
        evolve(asked, tools=()),
        evolve(asked, tools=(evolve(WEATHER, description="Guess."),)),
        evolve(asked, tool_choice=NamedTool("weather")),
        evolve(asked, settings=CallSettings(temperature=0.0)),
        evolve(asked, provider_options=JsonText('{"acme":{"cache":true}}')),
        evolve(asked, provider_tools=(ProviderTool("acme.search", "search"),)),
    ]

    assert len({fingerprint_of(one) for one in others}) == len(others)


def test_which_call_a_result_belongs_to_is_of_account() -> None:
    def asked(first: str, second: str) -> ModelRequest:
        calls = AssistantMessage((ToolCall("a", "weather", "{}"), ToolCall("b", "weather", "{}")))
        results = [ToolResult(it, "weather", JsonOutput(JsonText("1"))) for it in (first, second)]
        return ModelRequest(messages=(calls, ToolMessage(results)))

    assert fingerprint_of(asked("a", "b")) != fingerprint_of(asked("b", "a"))


def test_it_is_the_same_in_every_process() -> None:
    code = (
        "from stepfold.testing import fingerprint_of\n"
        "from stepfold.values import ModelRequest, UserMessage\n"
        "print(fingerprint_of(ModelRequest(messages=(UserMessage('Hello'),))))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1")
    }

    assert told == {fingerprint_of(ModelRequest(messages=(UserMessage("Hello"),)))}


async def test_it_is_the_same_in_every_run_and_seed() -> None:
    @sf.tool(needs_approval=True)
    def wipe(path: str) -> str:
        """Remove a file."""
        return f"{path} is gone"

    async def fingerprints(run: str, seed: int) -> list[str]:
        model = ScriptedModel([reply(call(wipe, {"path": "/"})), reply("Done.")])
        agent = sf.Agent(model=model, tools=[wipe], tool_approval_secret="pepper" * 6)
        rests = await agent.generate("Wipe it.", run_id=run, seed=seed)
        await agent.answer(rests, [sf.approve(rests.open_approvals[0])])
        return [fingerprint_of(one) for one in model.requests]

    first, second = await fingerprints("run", 0), await fingerprints("another", 9)

    assert first == second
    assert len(first) == 2


def test_secrets_are_in_no_standard_form() -> None:
    secret = "hunter2-hunter2"
    key = "sk-abcdef123456"
    options = json.dumps({"acme": {"api_key": secret, "mode": f"Bearer {key}"}})
    asked = ModelRequest(
        messages=(
            UserMessage(
                (
                    Text(f"My key is {key}."),
                    File(FileUrl(f"https://me:{secret}@a.example/x.png?sig={secret}"), "image"),
                )
            ),
            AssistantMessage((ApprovalRequest("a", "c", digest="d", signature=secret),)),
            ToolMessage((ApprovalResponse("a", approved=True),)),
        ),
        provider_tools=(
            ProviderTool("acme.mcp", "mcp", JsonText(f'{{"headers":{{"x":"{secret}"}},"n":1}}')),
            ProviderTool("acme.mcp", "odd", JsonText(f'{{"authorization":"{secret}"')),
        ),
        headers=(("authorization", f"Bearer {secret}"),),
        provider_options=JsonText(options),
        key="run/0/0",
    )

    kept = standard_form(asked)

    assert secret not in str(kept) + "".join(tool.args.text for tool in kept.provider_tools)
    assert key not in str(kept)
    assert kept.provider_tools[0].args == JsonText('{"headers":"[hidden]","n":1}')
    assert kept.provider_options == JsonText('{"acme":{"api_key":"[hidden]","mode":"[hidden]"}}')
    assert "https://[hidden]@a.example/x.png?[hidden]" in str(kept)
    assert "Is it warm?" in str(standard_form(request()))


def test_a_long_file_is_its_digest() -> None:
    def asked(data: bytes) -> ModelRequest:
        return ModelRequest(messages=(UserMessage((File(FileBytes(data), "image/png"),)),))

    short, long = asked(b"x"), asked(b"x" * 10_000)

    assert standard_form(short) == short
    assert len(str(standard_form(long).messages[0].content)) < 300
    assert fingerprint_of(long) != fingerprint_of(asked(b"y" * 10_000))
