"""A module as a user would write it, and what a command left behind."""

from typing import Protocol

from attrs import frozen

DESK = '''
from collections.abc import AsyncIterator

import anyio

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply


@sf.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@sf.tool(needs_approval=True)
def delete(path: str) -> str:
    """Delete a file."""
    return f"{path} is gone"


@sf.tool
async def count(n: int) -> AsyncIterator[str]:
    """Count slowly."""
    for number in range(n):
        yield f"number {number}"


class Database: ...


@sf.tool
def look(context: sf.ToolContext[Database], key: str) -> str:
    """Look into the database."""
    return key


@sf.tool
def free(context: sf.ToolContext[object], key: str) -> str:
    """Need nothing in particular."""
    return key


class Box:
    both = [add, delete]
    mixed = (add, len)


def no_tool() -> None: ...


def asked(request: sf.ModelRequest) -> sf.ModelReply:
    """Ask to delete, and tell what came of it."""
    last = request.messages[-1]
    if isinstance(last, sf.UserMessage):
        said = last.content[0]
        assert isinstance(said, sf.Text)
        if said.text == "hello":
            return reply(f"You said {len(request.messages)} things.")
        return reply("Let me tidy up.", call(delete, {"path": said.text}))
    return reply(f"Tidy: {last.content[-1].output}")


async def hanging(request: sf.ModelRequest) -> sf.ModelReply:
    await anyio.sleep(600)
    return reply("too late")


tidy = ScriptedModel([asked] * 4, chunk_size=4)
sums = ScriptedModel(
    [reply("Let me see.", call(add, {"a": 1, "b": 2}), usage=(11, 7)), reply("It is 3.")],
    chunk_size=3,
)
counting = ScriptedModel([reply(call(count, {"n": 3})), reply("Done.")])
clumsy = ScriptedModel([reply(call("nope"), call(add, {"a": "x"})), reply("Sorry.")])
endless = ScriptedModel([reply(call(add, {"a": 1, "b": 2}))] * 9)
locked = ScriptedModel([sf.ModelErrorReason("authentication", "no such key", status=401)])
shaky = ScriptedModel(
    [sf.ModelErrorReason("rate-limit", "slow down", retry_after=1_000_000), reply("At last.")]
)
rude = ScriptedModel([reply("\\x1b[31mred\\x07 \\u202eyou")])
stuck = ScriptedModel([reply("First, a sum.", call(add, {"a": 1, "b": 2})), hanging])
'''


@frozen
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


class Command(Protocol):
    """Runs the command in this process, with something typed."""

    def __call__(self, *arguments: str, typed: str = "") -> Done: ...
