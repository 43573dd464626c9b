"""Runs whose journals are kept for ever, for each version of the format and of the rules of `step`.

A run that would be written otherwise than it was is a change of the format or of the rules, and has
to be one (`CURRENT_VERSION`, `RULES`).
"""

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve, frozen

from stepfold.codec import CURRENT_VERSION, encode
from stepfold.loop import (
    RULES,
    Granted,
    Limits,
    OutputSpec,
    Program,
    RetryPolicy,
    ToolSpec,
    is_step_count,
)
from stepfold.loop.events import StepPlan, ToolFailed, ToolSucceeded
from stepfold.schema import SchemaFault
from stepfold.testing import Intervention, Schedule, Trace, Turn, World, call, reply, simulate
from stepfold.values import (
    Failure,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    NoOutput,
    Outcome,
    Price,
    Stop,
    Success,
    ToolDefinition,
)

FOLDER = Path(__file__).parents[1] / "data" / "codec" / "journals"
HERE = FOLDER / f"format-{CURRENT_VERSION}-rules-{RULES}"

_SCHEMA = JsonText('{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}')


def _check(value: object) -> tuple[SchemaFault, ...]:
    if isinstance(value, dict) and isinstance(value.get("n"), int):
        return ()
    return (SchemaFault("", "expected an object with an integer n"),)


def _number(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText(text)) if text.isdecimal() else Failure(NoOutput("no number", text))


LOOK = ToolSpec(definition=ToolDefinition("look", "Look.", _SCHEMA), check=_check, idempotent=True)
SEND = ToolSpec(definition=ToolDefinition("send", "Send.", _SCHEMA), check=_check)
PAY = evolve(SEND, definition=ToolDefinition("pay", "Pay.", _SCHEMA), approval="always")
RULED = evolve(SEND, definition=ToolDefinition("ruled", "As ruled.", _SCHEMA), approval="policy")
BOUND = evolve(LOOK, definition=ToolDefinition("bound", "Bind.", _SCHEMA), binds=True)
ASK = evolve(SEND, definition=ToolDefinition("ask", "Ask.", _SCHEMA), executes=False)
PROGRAM = Program(
    models=("kept/a", "kept/b"),
    tools={tool.name: tool for tool in (LOOK, SEND, PAY, RULED, BOUND, ASK)},
    instructions="Be brief.",
    stop_when=is_step_count(4),
    retry=RetryPolicy(max_retries=1, jitter=0.5),
)


def _turn(*tools: str) -> Turn:
    return Turn(reply("So.", *(call(tool, {"n": n}) for n, tool in enumerate(tools))))


IN_ORDER = Schedule()


@frozen
class Kept:
    """A run that is kept."""

    program: Program
    world: World
    schedule: Schedule = IN_ORDER
    granted: Granted | None = None

    def trace(self) -> Trace:
        return simulate(
            self.program,
            "Begin.",
            self.world,
            self.schedule,
            seed=7,
            at=1_000,
            granted=self.granted,
        )


def _with(*kinds: Intervention) -> Schedule:
    return Schedule(interventions=kinds)


_DOWN = ModelErrorReason("server", "down")
_WORK = World(
    turns=(_turn("look", "send"), _turn("bound")),
    outcomes=(
        ToolSucceeded(JsonOutput(JsonText('{"a":1.0}')), JsonText('{"a":1.0}')),
        ToolFailed("it broke"),
    ),
)

RUNS: Mapping[str, Kept] = {
    "text": Kept(PROGRAM, World()),
    "tools": Kept(PROGRAM, _WORK, Schedule((1, 0))),
    "approved": Kept(PROGRAM, World(turns=(_turn("pay", "look"),))),
    "denied": Kept(PROGRAM, World(turns=(_turn("pay"),), answers=(False,))),
    "policy": Kept(PROGRAM, World(turns=(_turn("ruled", "ruled"),), decisions=("denied",))),
    "client": Kept(PROGRAM, World(turns=(_turn("ask", "look"),))),
    "blocked": Kept(PROGRAM, World(turns=(_turn("ask", "pay"),), answers=(None,))),
    "retried": Kept(PROGRAM, World(turns=(Turn(reply("At last."), (_DOWN,)),))),
    "failed": Kept(PROGRAM, World(turns=(Turn(reply("No."), (_DOWN,) * 9),), reports_partial=True)),
    "prepared": Kept(
        evolve(PROGRAM, prepares=True),
        World(turns=(_turn("look"),), plans=(StepPlan(instructions="Be kind."), StepPlan())),
    ),
    "repaired": Kept(
        evolve(PROGRAM, repairs=True),
        World(turns=(Turn(reply(call("look", "{"), call("bound", "[1]"))),), repairs=('{"n":1}',)),
    ),
    "refused": Kept(PROGRAM, World(turns=(_turn("bound"),), bindings=("n is too small",))),
    "checked": Kept(
        evolve(PROGRAM, checks_stop=True),
        World(turns=(_turn("look"),), stops=(Stop("patience", JsonText("1")),)),
    ),
    "output": Kept(
        evolve(PROGRAM, output=OutputSpec("number", _number, binds=True, retries=1)),
        World(turns=(Turn(reply("many")), Turn(reply("7")))),
    ),
    "stopped": Kept(
        evolve(PROGRAM, limits=Limits(steps=2, tool_calls=1, wrap_up_tokens=40)),
        World(turns=(_turn("look", "send"),)),
    ),
    "granted": Kept(
        PROGRAM,
        World(turns=(_turn("look", "send"),)),
        granted=Granted(
            Limits(steps=9, tool_calls=1, cost=500, calls_of={"send": 3}, wrap_up_tokens=40),
            tuple((model, Price(input=1_000, output=2_000)) for model in PROGRAM.models),
        ),
    ),
    "steered": Kept(PROGRAM, _WORK, _with(Intervention(0, "queue"), Intervention(2, "steer"))),
    "resumed": Kept(
        PROGRAM, _WORK, Schedule((0,), (Intervention(2, "crash"), Intervention(3, "crash")))
    ),
    "cancelled": Kept(PROGRAM, _WORK, _with(Intervention(2, "cancel"))),
    "cut": Kept(PROGRAM, _WORK, _with(Intervention(0, "cancel", with_partial=True))),
    "ended after a step": Kept(PROGRAM, _WORK, _with(Intervention(1, "cancel-after-step"))),
    "timed out": Kept(PROGRAM, _WORK, _with(Intervention(3, "run-timeout"))),
    "step timed out": Kept(PROGRAM, _WORK, _with(Intervention(2, "step-timeout"))),
}


def written(kept: Kept) -> bytes:
    """The journal of a run: its header, its entries, and the state that it came to."""
    trace = kept.trace()
    return b"".join(encode(it) + b"\n" for it in (trace.header, *trace.entries, trace.end))


def file_of(name: str) -> Path:
    """Where the journal of a run is kept, in this version."""
    return HERE / f"{name.replace(' ', '-')}.jsonl"


def add_journals(folder: Path) -> list[str]:
    """Write the journals that are not there yet; says what became of each."""
    folder.mkdir(parents=True, exist_ok=True)
    told: list[str] = []
    for name, kept in RUNS.items():
        path = folder / file_of(name).name
        if path.exists():
            is_same = path.read_bytes() == written(kept)
            told.append(f"{'kept' if is_same else 'KEPT, and it would differ'}: {path.name}")
        else:
            path.write_bytes(written(kept))
            told.append(f"added: {path.name}")
    return told
