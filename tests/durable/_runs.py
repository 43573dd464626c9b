"""A program that loses nothing by being killed: parallel tools, some of which may run again."""

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply


@sf.tool(idempotent=True)
def look(place: str) -> str:
    """Look somewhere; harmless."""
    return f"saw {place}"


@sf.tool
def book(place: str) -> str:
    """Book something; not twice."""
    return f"booked {place}"


def agent_of(steps: int = 3, **options: object) -> sf.Agent:
    """Make an agent whose model calls both tools at each of some steps."""
    script = [
        reply(call(look, {"place": f"a{step}"}), call(book, {"place": f"b{step}"}))
        for step in range(steps)
    ]
    model = ScriptedModel([*script, reply("Done.")], by_step=True)
    return sf.Agent(model=model, tools=[look, book], stop_when=sf.never, **options)  # type: ignore[arg-type]
