"""Hooks see the deps of their agent; a hook of another shape is an error where it is given."""

from typing import assert_type

import stepfold as sf
from stepfold.testing import ScriptedModel

model = ScriptedModel([])


class Deps:
    user: str


def prepare(context: sf.StepContext[Deps]) -> sf.events.StepPlan | None:
    assert_type(context.deps, Deps)
    return sf.events.StepPlan(instructions=context.deps.user)


async def repair(context: sf.RepairContext[object]) -> str | None:
    return context.call.input


async def policy(context: sf.ApprovalContext[Deps]) -> sf.Verdict:
    return sf.Verdict("denied", reason=context.deps.user)


def forgetful(context: sf.ApprovalContext[Deps]) -> bool:
    return context.deps.user == "ada"


async def out_of_money(context: sf.StopContext[Deps]) -> sf.Stop | None:
    assert_type(context.progress, sf.Progress)
    return sf.Stop(context.deps.user) if context.progress.cost is None else None


def late(context: sf.StopContext[object]) -> sf.Stop | None:
    return None


async def always(context: sf.StopContext[object]) -> bool:
    return True


hooked = sf.Agent(
    model=model,
    deps_type=Deps,
    prepare_step=prepare,
    repair_tool_call=repair,
    tool_approval=policy,
    stop_check=out_of_money,
)
assert_type(hooked, sf.Agent[Deps, str])

ruled = sf.Agent(model=model, deps_type=Deps, tool_approval={"wipe": policy, "read": "approved"})
assert_type(ruled, sf.Agent[Deps, str])

plain = sf.Agent(model=model, stop_check=late)


def refine(arguments: sf.JsonObject) -> dict[str, object]:
    return {**arguments, "user": "ada"}


refined = sf.Agent(model=model, deps_type=Deps, refine_tool_input={"wipe": refine, "read": dict})
assert_type(refined, sf.Agent[Deps, str])

plain = sf.Agent(model=model)
assert_type(plain, sf.Agent[object, str])


async def running() -> None:
    await hooked.generate("go", deps=Deps())
    await hooked.generate("go")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


sf.Agent(model=model, deps_type=Deps, tool_approval=forgetful)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # long: mypy writes out the decisions
sf.Agent(model=model, stop_check=always)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.Agent(model=model, stop_when=out_of_money)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def is_much(context: sf.ApprovalContext[object]) -> bool:
    return context.input is None


@sf.tool(needs_approval=is_much)
def pay(cents: int) -> str:
    return str(cents)


assert_type(pay(cents=1), str)

sf.tool(needs_approval=forgetful)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
sf.tool(needs_approval=lambda context: "no")  # type: ignore[arg-type, return-value]  # pyright: ignore[reportArgumentType]


def lossy(arguments: sf.JsonObject) -> str:
    return str(arguments)


sf.Agent(model=model, refine_tool_input={"wipe": lossy})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
