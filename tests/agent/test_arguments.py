"""Wrong arguments: each error names the argument, what was expected and what came."""

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Literal, Protocol, TypedDict, final

import pytest
from attrs import frozen

from stepfold import loop
from stepfold.agent import Agent, RunFailed, approve, generate_text, object_of, stream_text
from stepfold.loop import Limits, Progress, RetryPolicy, is_step_count
from stepfold.shell import Runtime, ToolContext, tool
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import (
    AssistantMessage,
    Cancelled,
    Completed,
    Failed,
    HookFailed,
    Message,
    NamedTool,
    Stop,
    Stopped,
    SystemMessage,
    UsageError,
    UserMessage,
)

DONE = reply("done")


@final
@frozen
class Deps:
    city: str = "Oslo"


@tool
async def weather(city: str) -> str:
    return city


@tool
async def local(context: ToolContext[Deps]) -> str:
    return context.deps.city


def untooled(city: str) -> str:
    return city


def make(**arguments: object) -> Agent:
    """An agent from arguments that no type checker looks at."""
    build: Callable[..., Agent] = Agent
    return build(**({"model": ScriptedModel([DONE])} | arguments))


def at_construction(text: str, **arguments: object) -> None:
    with pytest.raises(UsageError, match=re.escape(text)):
        make(**arguments)


# --- when an agent is made --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "text"),
    [
        ("gpt-5.4", "model: expected an id such as 'openai/gpt-5.4', got 'gpt-5.4'"),
        ("openai/", "model: expected an id such as 'openai/gpt-5.4', got 'openai/'"),
        (":x", "model: expected an id"),
        ("", "model: expected an id"),
        (None, "or an object with provider, model_id, generate and stream, got None"),
        (ScriptedModel, "got the class ScriptedModel"),
        (3, "got 3"),
    ],
)
def test_a_wrong_model(model: object, text: str) -> None:
    """A malformed id, and what is no model at all."""
    at_construction(text, model=model)


@pytest.mark.parametrize(
    ("tools", "text"),
    [
        (None, "tools: expected a sequence of tools, got None"),
        (weather, "tools: expected a sequence of tools, got <tool weather>"),
        ("weather", "tools: expected a sequence of tools, got 'weather'"),
        ([untooled], "decorate it with @tool, or give tool(untooled)"),
        ([Deps()], "tools: expected tools made by @tool, got Deps(city='Oslo')"),
        ([weather, tool(name="weather")(untooled)], "got two of 'weather': rename one"),
    ],
)
def test_wrong_tools(tools: object, text: str) -> None:
    """A bare function is told how to become a tool."""
    at_construction(text, tools=tools)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (Deps, "output: expected text() or object_of(…), got the class Deps: give object_of(Deps)"),
        ("text", "output: expected text() or object_of(…), got 'text'"),
    ],
)
def test_a_wrong_output(output: object, text: str) -> None:
    """A type is told how to become an output."""
    at_construction(text, output=output)


async def _later(progress: Progress) -> None:
    pass


@pytest.mark.parametrize(
    ("stop_when", "text"),
    [
        (True, "stop_when: expected a function of Progress, got True"),
        (5, "stop_when: expected a function of Progress, got 5: is_step_count(5)"),
        (is_step_count, "got the function is_step_count: call it, as in is_step_count(…)"),
        (loop.token_budget, "call it, as in token_budget(…)"),
        (loop.any_of, "call it, as in any_of(…)"),
        (_later, "stop_when: expected a plain function, got the async"),
        (lambda: None, "stop_when: expected a function of one argument, a Progress"),
        (lambda one, two: None, "got <function <lambda>"),
        ([is_step_count(1)], "stop_when: expected a function of Progress, got ["),
    ],
)
def test_a_wrong_stop_condition(stop_when: object, text: str) -> None:
    """What can be seen is said at once."""
    at_construction(text, stop_when=stop_when)


def test_a_stop_condition_may_be_any_callable() -> None:
    """Also one that does not tell what it takes."""
    for condition in (max, dict[object, None]().get, lambda progress: None, is_step_count(3)):
        make(stop_when=condition)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"instructions": 3}, "instructions: expected a str, got 3"),
        ({"instructions": None}, "instructions: expected a str, got None"),
        ({"limits": 5}, "limits: expected a Limits, got 5"),
        ({"prices": 5}, "prices: expected a mapping from models to prices, got 5"),
        ({"prices": {5: 5}}, "prices: expected ids such as 'openai/gpt-5.4', got 5"),
        ({"prices": {"a/b": 5}}, "prices['a/b']: expected a Price, got 5"),
        ({"limits": Limits(cost=1)}, "Limits.cost: expected the price of each model, got none of"),
        ({"settings": {"temperature": 1}}, "settings: expected a CallSettings, got {"),
        ({"retry": 3}, "retry: expected a RetryPolicy, got 3"),
        ({"concurrency": 0}, "concurrency: expected a whole number from 1, got 0"),
        ({"concurrency": True}, "concurrency: expected a whole number from 1, got True"),
        ({"fallback_models": "a/b"}, "fallback_models: expected a sequence of models or ids"),
        ({"fallback_models": [1]}, "fallback_models[0]: expected an id such as"),
        ({"fallback_models": ["gpt"]}, "fallback_models[0]: expected an id such as"),
        (
            {"fallback_models": ["a/b", "a:b"]},
            "fallback_models[1]: expected a model that is not given before, got 'a/b' again",
        ),
        ({"timeout": 0}, "timeout: expected seconds above zero, or Timeouts, got 0"),
        ({"timeout": True}, "timeout: expected seconds above zero, or Timeouts, got True"),
        ({"timeout": "5s"}, "timeout: expected seconds above zero, or Timeouts, got '5s'"),
        ({"provider_options": 5}, "provider_options: expected a Mapping, got 5"),
        ({"provider_options": {"a": object()}}, "provider_options: expected what has a JSON form"),
        ({"deps_type": Deps()}, "deps_type: expected a type, got Deps(city='Oslo'): give Deps"),
        ({"deps_type": "Deps"}, "deps_type: expected a type, got 'Deps'"),
        ({"tool_choice": "weather", "tools": [weather]}, "give NamedTool('weather')"),
        ({"tool_choice": "always"}, "tool_choice: expected 'auto', 'none', 'required' or a Named"),
        ({"tool_choice": NamedTool("x"), "tools": [weather]}, "one of the tools (weather)"),
        ({"tool_choice": "required"}, "tool_choice: 'required' needs at least one tool"),
        ({"limits": Limits(calls_of=(("x", 1),))}, "Limits.calls_of: expected one of the tools"),
    ],
)
def test_arguments_of_the_wrong_kind(arguments: Mapping[str, object], text: str) -> None:
    """Each is named."""
    at_construction(text, **arguments)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: Limits(steps=-1), "Limits.steps: expected a finite number that is not negative"),
        (lambda: Limits(tokens=-1), "Limits.tokens"),
        (lambda: RetryPolicy(max_retries=-1), "RetryPolicy.max_retries"),
        (lambda: is_step_count(-1), "is_step_count"),
        (
            lambda: Runtime(models=[], concurrency=0),
            "concurrency: expected at least 1, got 0",
        ),
        (
            lambda: Runtime(models=[ScriptedModel([]), ScriptedModel([])]),
            "models: expected one model of each name, got two of 'scripted/model'",
        ),
    ],
    ids=["steps", "tokens", "retries", "is_step_count", "concurrency", "models"],
)
def test_figures_and_names_are_checked_where_they_are_given(
    build: Callable[[], object], text: str
) -> None:
    """Negative limits, two models of one name."""
    with pytest.raises(UsageError, match=re.escape(text)):
        build()


def test_an_unknown_argument() -> None:
    """The text lists the known ones."""
    with pytest.raises(UsageError, match=r"expected options among .*, got 'modle'"):
        make(modle="openai/gpt-5.4")


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("modle", "; did you mean 'model'?"),
        ("concurency", "; did you mean 'concurrency'?"),
        ("zzz", ""),
        ("temperature", ": give settings=CallSettings(temperature=…)"),
        ("max_steps", ": give stop_when=is_step_count(…)"),
        ("system", ": give instructions=…"),
        ("prompt", ": the prompt is the first argument, without a name"),
        ("steering", ": it belongs to a run, so give it to generate(…), stream(…) and the like"),
        ("transform", ": only a stream has something to transform"),
    ],
)
def test_an_unknown_argument_is_told_with_what_to_write(option: str, advice: str) -> None:
    """By those who come from elsewhere, and those who mistype."""
    with pytest.raises(UsageError, match=re.escape(f"got {option!r}{advice}") + "$"):
        make(**{option: None})


@pytest.mark.parametrize("option", ["timeout", "prepare_step", "tools"])
def test_an_option_of_the_agent_is_none_of_a_run(option: str) -> None:
    """It was decided when the agent was made."""
    run: Callable[..., object] = make().generate_sync

    with pytest.raises(UsageError, match=f"got '{option}': it belongs to the agent$"):
        run("Go.", **{option: None})


# --- tools ------------------------------------------------------------------------------------


def _star(*cities: str) -> str:
    return ""


def _keywords(**cities: str) -> str:
    return ""


def _unannotated(city) -> str:  # type: ignore[no-untyped-def]
    return ""


def _unknown(city: "Nowhere") -> str:  # type: ignore[name-defined]  # noqa: F821
    return ""


def _callback(call: Callable[[], None]) -> str:
    return ""


def _late_context(city: str, context: ToolContext[Deps]) -> str:
    return ""


def _keyword_context(*, context: ToolContext[Deps]) -> str:
    return ""


def _two_contexts(one: ToolContext[Deps], two: ToolContext[Deps]) -> str:
    return ""


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (_star, "_star(), parameter 'cities': expected a parameter with a name"),
        (_keywords, "take a dict[str, …] instead"),
        (_unannotated, "parameter 'city': expected an annotation, got none"),
        (_unknown, "_unknown(): "),
        (_callback, "'call' of _callback(): expected a type with a JSON form"),
        (_late_context, "parameter 'context': expected the ToolContext as the first"),
        (_keyword_context, "expected the ToolContext as the first, positional parameter"),
        (_two_contexts, "parameter 'two': expected the ToolContext as the first"),
        (3, "tool: expected a function, got 3; options are given by keyword"),
        (lambda: "", "tool: expected a name of 1 to 64 letters"),
    ],
)
def test_a_function_that_cannot_be_a_tool(function: object, text: str) -> None:
    """Said where the tool is made."""
    decorate: Callable[[object], object] = tool  # type: ignore[assignment]
    with pytest.raises(UsageError, match=re.escape(text)):
        decorate(function)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"name": "two words"}, "expected a name of 1 to 64 letters, digits, '_' and '-'"),
        ({"name": ""}, "expected a name"),
        ({"timeout": 0}, "tool untooled: expected a timeout of more than 0 seconds, got 0"),
        ({"timeout": float("nan")}, "expected a timeout of more than 0 seconds, got nan"),
        ({"timeout": float("inf")}, "expected a timeout of more than 0 seconds, got inf"),
        ({"timeout": "5"}, "expected a timeout of more than 0 seconds, got '5'"),
        ({"examples": [{"town": "Oslo"}]}, "tool untooled, examples: "),
        ({"examples": [object()]}, "tool untooled, examples: an example: "),
    ],
)
def test_options_of_tools(options: Mapping[str, object], text: str) -> None:
    """Said where the tool is made."""
    decorator: Callable[..., Callable[[object], object]] = tool
    with pytest.raises(UsageError, match=re.escape(text)):
        decorator(**options)(untooled)


# --- when a run is made -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("", "prompt: expected text or messages, got an empty string"),
        ([], "prompt: expected at least one message, got none"),
        (None, "prompt: expected text or a sequence of messages, got None"),
        (3, "prompt: expected text or a sequence of messages, got 3"),
        (b"Go.", "prompt: expected text or a sequence of messages, got b'Go.'"),
        ({"role": "user"}, "prompt: expected text or a sequence of messages, got {'role'"),
        ([{"role": "user"}], "prompt[0]: expected a message, got dict"),
        ([UserMessage("a"), "b"], "prompt[1]: expected a message, got str"),
        ([SystemMessage("x"), UserMessage("a")], "prompt[0]: a system message in a history"),
    ],
)
async def test_a_wrong_prompt(prompt: object, text: str) -> None:
    """In every entry point."""
    generate: Callable[..., object] = Agent(model=ScriptedModel([DONE])).stream
    sync: Callable[..., object] = Agent(model=ScriptedModel([DONE])).generate_sync
    with pytest.raises(UsageError, match=re.escape(text)):
        generate(prompt)
    if prompt is None:
        with pytest.raises(UsageError, match="running event loop"):
            sync(prompt)


async def test_system_messages_can_be_allowed() -> None:
    """Where the history is one's own."""
    agent = Agent(model=ScriptedModel([DONE]), allow_system_messages=True)
    run = await agent.generate([SystemMessage("Be brief."), UserMessage("Go.")])

    assert run.messages[0] == SystemMessage("Be brief.")


async def test_a_prompt_may_be_read_only_once() -> None:
    """And the caller's own list is left alone."""
    history: list[Message] = [UserMessage("a"), AssistantMessage("b"), UserMessage("c")]
    model = ScriptedModel([DONE])
    prompt: Sequence[Message] = iter(history)  # type: ignore[assignment]
    run = await Agent(model=model).generate(prompt)

    assert run.messages[:3] == tuple(history)
    assert len(history) == 3


class Wide(Protocol):
    city: str


class Typed(TypedDict):
    city: str


@pytest.mark.parametrize(
    ("deps_type", "deps", "text"),
    [
        (Deps, "Oslo", "deps: expected a Deps, got 'Oslo'"),
        (Deps, None, "deps: expected a Deps, got None"),
        (int, Deps(), "deps: expected an int, got Deps(city='Oslo')"),
    ],
)
async def test_wrong_deps(deps_type: object, deps: object, text: str) -> None:
    """As far as a type can be seen at run time."""
    agent: Agent[object] = make(deps_type=deps_type)
    with pytest.raises(UsageError, match=re.escape(text)):
        await agent.generate("Go.", deps=deps)


async def test_missing_deps() -> None:
    """Whether the agent asks for them, or only a tool of it."""
    for arguments in ({"deps_type": Deps}, {"deps_type": Deps, "tools": [local]}):
        with pytest.raises(UsageError, match="deps: expected Deps, got nothing: give deps=…"):
            await make(**arguments).generate("Go.")
    text = r"deps: expected Deps, since the tool local takes a ToolContext of it, got nothing"
    with pytest.raises(UsageError, match=text):
        await make(tools=[weather, local]).generate("Go.")
    generate: Callable[..., object] = stream_text
    with pytest.raises(UsageError, match=text):
        generate("Go.", model=ScriptedModel([DONE]), tools=[local])


async def test_deps_that_cannot_be_looked_into_are_taken() -> None:
    """Protocols, typed dicts, unions and generic types are left to the type checker."""
    given: list[tuple[object, object]] = [
        (Wide, Deps()),
        (Typed, {"city": "Oslo"}),
        (Deps | None, None),
        (list[int], [1]),
        (Literal["a"], "a"),
        (float, 1),
        (object, None),
    ]
    for deps_type, deps in given:
        agent: Agent[object] = make(deps_type=deps_type)
        assert (await agent.generate("Go.", deps=deps)).text == "done"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"temprature": 1},
            "expected options among cancel, clock, journal, observers, parent, run_id, runtime_",
        ),
        ({"run_id": 3}, "run_id: expected a str, got 3"),
        ({"run_id": ""}, "run_id: expected a name, got an empty string"),
        ({"seed": "x"}, "seed: expected an int, got 'x'"),
        ({"clock": 1}, "clock: expected an object with now and sleep_until, got 1"),
        ({"journal": "a.db"}, "journal: expected an object with begin and append, got 'a.db'"),
        ({"cancel": True}, "cancel: expected a CancelHandle, got True"),
    ],
)
async def test_options_of_a_run(options: Mapping[str, object], text: str) -> None:
    """An unknown one is not dropped without a word."""
    stream: Callable[..., object] = make().stream
    with pytest.raises(UsageError, match=re.escape(text)):
        stream("Go.", **options)


async def test_options_of_generate_text() -> None:
    """They are those of an agent and those of a run."""
    generate: Callable[..., object] = stream_text
    model = ScriptedModel([DONE])
    with pytest.raises(UsageError, match="got 'temprature'"):
        generate("Go.", model=model, temprature=1)
    with pytest.raises(UsageError, match="expected model=…, got none"):
        generate("Go.")
    with pytest.raises(UsageError, match="concurrency"):
        generate("Go.", model=model, concurrency=0)


async def test_a_model_that_cannot_be_had() -> None:
    """Ids are looked up at the first run."""
    with pytest.raises(UsageError, match="there is no provider 'acme'"):
        await Agent(model="acme/x").generate("Go.")
    with pytest.raises(UsageError, match="local/x is not known"):
        await Agent(model="local:x").generate("Go.")


async def test_a_key_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment variable is named."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        await Agent(model="openai/gpt-5.4").generate("Go.")


@pytest.mark.parametrize("id", ["openai/gpt-5.4", "openai:gpt-5.4", " openai/gpt-5.4 "])
async def test_an_id_names_its_model(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both separators, and the name in the state is that of the model."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-a-key")
    agent = Agent(model=id)
    stream = agent.stream("Go.")

    assert agent.program.models == ("openai/gpt-5.4",)
    async with stream as entered:  # the runtime has a model of that name
        assert entered is stream


@pytest.mark.parametrize("id", ["local/smollm2", "openai-compatible/some/model"])
async def test_other_ids_name_their_models(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the provider."""
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "http://localhost:9/v1")
    async with Agent(model=id).stream("Go.") as stream:
        pass

    assert isinstance((await stream.run()).end, Cancelled)


async def test_a_stop_condition_that_returns_something_else() -> None:
    """The run fails, and the text says what to return."""
    condition: Callable[[Progress], Stop | None] = lambda progress: True  # type: ignore[assignment, return-value]  # noqa: E731
    agent = Agent(
        model=ScriptedModel([reply(call("weather", {"city": "Oslo"})), DONE]),
        tools=[weather],
        stop_when=condition,
    )
    with pytest.raises(RunFailed, match=r"return Stop\(…\) or None, or use stop_if") as caught:
        await agent.generate("Go.")

    assert isinstance(caught.value.run.end, Failed)
    assert isinstance(caught.value.error, HookFailed)


async def test_generate_sync_needs_a_loop_of_its_own() -> None:
    """Within a running one it names what to use."""
    agent = Agent(model=ScriptedModel([DONE]))
    with pytest.raises(UsageError, match=r"use `await generate\(…\)`"):
        agent.generate_sync("Go.")


def test_generate_sync_runs_and_raises() -> None:
    """As `generate` does."""
    assert Agent(model=ScriptedModel([DONE])).generate_sync("Go.").end == Completed("done")
    with pytest.raises(UsageError, match="prompt: expected text"):
        Agent(model=ScriptedModel([DONE])).generate_sync("")


async def test_wrong_answers() -> None:
    """Named like everything else."""

    @tool(needs_approval=True)
    async def pay() -> str:
        return "paid"

    agent = Agent(model=ScriptedModel([reply(call("pay")), DONE]), tools=[pay])
    run = await agent.generate("Go.")
    answer: Callable[..., object] = agent.answer
    cases: list[tuple[tuple[object, ...], dict[str, object], str]] = [
        (("run", []), {}, "run: expected a Run, got 'run'"),
        ((run, [True]), {}, "answers: expected answers to open requests, got True"),
        ((run, []), {"run_id": "x"}, "answer: expected no run_id: the run has one"),
        ((run, []), {"seed": 1}, "answer: expected no seed: the run has one"),
        ((run, []), {"sead": 1}, "got 'sead'"),
        ((run, []), {"cancel": 1}, "cancel: expected a CancelHandle"),
    ]
    for arguments, options, text in cases:
        with pytest.raises(UsageError, match=re.escape(text)):
            await answer(*arguments, **options)  # type: ignore[misc]
    approving: Callable[..., object] = approve
    with pytest.raises(
        UsageError, match="approve: expected an open approval of a blocked run, got 'x'"
    ):
        approving("x")


async def test_generate_text_stops_after_one_step() -> None:
    """As in the AI SDK; an agent goes on for twenty."""
    script = [reply(call("weather", {"city": "Oslo"})), DONE]
    one = await generate_text("Go.", model=ScriptedModel(script), tools=[weather])
    two = await generate_text(
        "Go.", model=ScriptedModel(script), tools=[weather], stop_when=is_step_count(5)
    )
    with_deps = await generate_text(
        "Go.",
        model=ScriptedModel([reply(call("local")), reply('{"city":"Rome"}')]),
        deps=Deps(),
        tools=[local],
        output=object_of(Deps),
        stop_when=is_step_count(5),
        run_id="r",
        seed=1,
        cancel=None,
        journal=None,
        clock=None,
    )
    async with stream_text("Go.", model=ScriptedModel(script), tools=[weather]) as stream:
        streamed = await stream.run()

    assert isinstance(one.end, Stopped)
    assert two.end == Completed("done")
    assert with_deps.end == Completed(Deps("Rome"))
    assert streamed.end == one.end


async def test_items_is_no_message() -> None:
    """An async iterator is no prompt."""

    async def messages() -> AsyncIterator[Message]:
        yield UserMessage("a")

    stream: Callable[..., object] = make().stream
    given = messages()
    with pytest.raises(UsageError, match="prompt: expected text or a sequence"):
        stream(given)
