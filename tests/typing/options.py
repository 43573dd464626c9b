"""Every option of an agent, of a run and of the functions: what fits it and what does not."""

import re
from collections.abc import Mapping
from typing import assert_type

import stepfold as sf
from stepfold.testing import ScriptedModel, VirtualClock

model = ScriptedModel([])


class Deps:
    user: str


@sf.tool
async def look(context: sf.ToolContext[Deps], place: str) -> str:
    return f"{context.deps.user} saw {place}"


@sf.tool
def double(number: int) -> int:
    return 2 * number


@sf.client_tool
def ask_user(question: str) -> str:
    raise NotImplementedError


def run_any(context: sf.ToolContext[Deps], arguments: Mapping[str, object]) -> int:
    return len(arguments) + len(context.deps.user)


call_any = sf.dynamic_tool(
    name="any", description="Do anything.", input_schema={"type": "object"}, execute=run_any
)
assert_type(call_any, sf.AnyTool[Deps, int])


def prepare(context: sf.StepContext[Deps]) -> sf.events.StepPlan | None:
    assert_type(context.steering_messages, tuple[sf.UserMessage, ...])
    return sf.events.StepPlan(active_tools=["double"], runtime_context={"tries": context.step})


def prepare_any(context: sf.StepContext[object]) -> None: ...


def free(progress: sf.Progress) -> sf.Stop | None:
    return sf.Stop("dear") if (progress.cost or 0) > 5 else None


# --- of an agent ------------------------------------------------------------------------------

whole = sf.Agent(
    model=model,
    deps_type=Deps,
    instructions="Be brief.",
    tools=[look, double, ask_user, call_any, sf.tool_search(), sf.provider_tool("acme.search")],
    output=sf.array_of(int, strategy="tool", retries=2),
    stop_when=sf.any_of(sf.is_step_count(3), free) | sf.deadline(after=60.0),
    limits=sf.Limits(steps=5, cost=100, calls_of={double: 2, "look": 1}, wrap_up_tokens=100),
    prices={"scripted/model": sf.Price(input=1, output=2)},
    settings=sf.CallSettings(temperature=0.0, reasoning="low"),
    tool_choice=sf.NamedTool("double"),
    active_tools=[double, "look"],
    tool_order=(look, "double"),
    retry=sf.RetryPolicy(max_retries=1, fallback_on={"overloaded"}),
    fallback_models=["acme/small", model],
    provider_options={"acme": {"tier": "low"}},
    refine_tool_input={"look": dict},
    concurrency=2,
    timeout=sf.Timeouts(total=60.0, tools={look: 5.0, "double": 1.0}),
    allow_system_messages=True,
    tool_approval_secret=b"secret",
    download=None,
    prepare_step=prepare,
    tool_approval={"look": "user-approval"},
)
assert_type(whole, sf.Agent[Deps, tuple[int, ...]])

sf.Agent(model=model, timeout=3.5, stop_when=None, limits=None, retry=None)


def an_agent_refuses() -> None:
    sf.Agent(model=model, observers=[print])
    sf.Agent(model=model, observers=model)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, timeout="1s")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, timeout=sf.Timeouts(all=1.0))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    sf.Agent(model=model, fallback_models="acme/small", limits=sf.Limits(5))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    sf.Agent(model=model, fallback_models=[7])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, active_tools=[7])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, tool_order=[3])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, steering=sf.Steering())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    sf.Agent(model=model, retry=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, tool_choice={"name": "double"})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, stop_when=[sf.is_step_count(3)])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.Agent(model=model, output=sf.object_of(int, strategy="schema"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# --- of a run ---------------------------------------------------------------------------------


async def a_run_takes(deps: Deps, steering: sf.Steering) -> None:
    run = await whole.generate(
        "go",
        deps=deps,
        cancel=sf.CancelHandle(),
        steering=steering,
        journal=sf.MemoryJournal(),
        clock=VirtualClock(),
        run_id="r",
        seed=1,
        runtime_context={"tenant": "acme"},
        observers=[print],
    )
    assert_type(run.unwrap(), tuple[int, ...])
    assert_type(run.results_of(ask_user), tuple[str, ...])
    assert_type(steering.steer("Hurry."), bool)
    assert_type(steering.queue(sf.UserMessage("And then?")), bool)
    assert_type(steering.undelivered, tuple[sf.UserMessage, ...])
    async with whole.stream("go", deps=deps, transform=[sf.smooth_stream()]) as stream:
        assert_type(stream.steer("Hurry."), bool)
        async for number in stream.elements():
            assert_type(number, int)
    smooth = sf.smooth_stream(chunking=re.compile("a"))
    whole.stream("go", deps=deps, transform=smooth)


async def a_run_refuses(deps: Deps, steering: sf.Steering) -> None:
    await whole.generate("go", deps=deps, steering="Hurry.")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await whole.generate("go", deps=deps, transform=sf.smooth_stream())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    whole.generate_sync("go", deps=deps, transform=sf.smooth_stream())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await whole.generate("go", deps=deps, runtime_context=deps)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await whole.generate("go", deps=deps, timeout=3.0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    steering.steer(sf.SystemMessage("Obey."))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.smooth_stream(chunking="letter")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# --- of the functions -------------------------------------------------------------------------


async def the_functions_take(deps: Deps) -> None:
    with_deps = await sf.generate_text(
        "go",
        model=model,
        deps=deps,
        tools=[look, double],
        prepare_step=prepare,
        tool_approval={"look": "approved"},
        stop_when=sf.is_step_count(3),
        cancel=sf.CancelHandle(),
    )
    assert_type(with_deps, sf.Run[str])
    without = await sf.generate_text("go", model=model, prepare_step=prepare_any, output=sf.json())
    assert_type(without, sf.Run[sf.JsonValue])
    stream = sf.stream_text(
        "go",
        model=model,
        deps=deps,
        tools=[look],
        prepare_step=prepare,
        output=sf.object_of(Deps),
        transform=sf.smooth_stream(),
    )
    assert_type(await stream.run(), sf.Run[Deps])
    kept: sf.GenerateOptions = {"model": model, "prepare_step": prepare_any}
    assert_type(await sf.generate_text("go", **kept), sf.Run[str])


async def the_functions_refuse(deps: Deps) -> None:
    await sf.generate_text("go")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await sf.generate_text("go", model=model, prepare_step=prepare)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await sf.generate_text("go", model=model, deps=deps, prepare_step=prepare)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await sf.generate_text("go", model=model, transform=sf.smooth_stream())  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]  # long: mypy writes out the parts
    await sf.generate_text("go", model=model, tools=[look])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]


# --- tools that run elsewhere -----------------------------------------------------------------


def tools_elsewhere(request: sf.OpenCall) -> None:
    assert_type(sf.tool_output(request, "Blue."), sf.CallAnswer)
    assert_type(sf.tool_error(request, "no answer"), sf.CallAnswer)
    sf.tool_error(request, ValueError())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.tool_output("Blue.", request)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sf.client_tool(timeout=3.0)(ask_user)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    sf.dynamic_tool(name="any")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


# --- embedding and reranking ------------------------------------------------------------------


async def embedding(embedder: sf.EmbeddingModel, ranker: sf.RerankingModel) -> None:
    one = await sf.embed(embedder, "a", dimensions=3, observers=[print])
    assert_type(one, sf.Embedded)
    many = await sf.embed_many(embedder, ["a", "b"], max_parallel=2, retry=None)
    assert_type(many.embeddings, tuple[sf.Embedding, ...])
    assert_type(sf.cosine_similarity(one.embedding, many.embeddings[0]), float)
    assert_type(await sf.try_embed(embedder, "a"), sf.Outcome[sf.Embedded, sf.ModelError])
    assert_type(await sf.rerank(ranker, "q", ["a"], top_n=1), sf.Reranked[str])
    ranked = await sf.rerank(ranker, "q", [1, 2], text=str)
    assert_type(ranked.documents, tuple[int, ...])
    await sf.rerank(ranker, "q", [1, 2])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    await sf.embed(embedder, ["a"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await sf.embed(model, "a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await sf.embed_many(embedder, ["a"], parallel=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    sf.wrap_embedding_model(embedder, sf.default_settings())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
