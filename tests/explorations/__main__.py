"""Explore the loop at length, and write what was seen into the documentation.

`python -m tests.explorations` takes some minutes, and fails if a law is broken or the smaller of
the searches is not exhaustive.
"""

import sys
from pathlib import Path

from attrs import evolve

import stepfold as sf
from stepfold.testing import ScriptedModel
from stepfold.testing.exploration import Alphabet, Exploration, alphabet_of, explore

HEAD = (
    "| model calls | states | transitions | events, at most | |",
    "| --- | --- | --- | --- | --- |",
)
PAGE = Path(__file__).parents[2] / "docs" / "examples" / "explored.md"


@sf.tool(needs_approval=True)
def pay(to: str, cents: int) -> str:
    """Pay somebody."""
    return f"paid {cents} cents to {to}"


@sf.tool(idempotent=True)
def look(key: int) -> str:
    """Look something up."""
    return f"{key}"


def main() -> int:
    """Run both searches, and write the table."""
    agent = sf.Agent(
        model=ScriptedModel([]), tools=[pay, look], retry=sf.RetryPolicy(max_retries=1)
    )
    program = agent.program
    small = explore(program, alphabet=_both_in_each(alphabet_of(program, calls=2, steps=2)))
    large = explore(program, alphabet=alphabet_of(program, calls=3, steps=3), max_states=10_000)
    rows = [
        _row("both tools in one reply, twice", small),
        _row("up to 3 in any mix, 3 steps", large),
    ]
    PAGE.write_text("\n".join([*HEAD, *rows, ""]), encoding="utf-8")
    sys.stdout.write(PAGE.read_text(encoding="utf-8"))
    return 0 if small.is_exhaustive and large.violation is None else 1


def _both_in_each(alphabet: Alphabet) -> Alphabet:
    """Only the replies that call both tools, or none."""
    return evolve(
        alphabet,
        replies=tuple(
            tuple(reply for reply in replies if _names(reply) in {(), ("pay", "look")})
            for replies in alphabet.replies
        ),
    )


def _names(reply: sf.ModelReply) -> tuple[str, ...]:
    return tuple(part.tool_name for part in reply.content if isinstance(part, sf.ToolCall))


def _row(name: str, explored: Exploration) -> str:
    explored.require_lawful()
    how = "all that can happen" if explored.is_exhaustive else f"ended by {explored.bound}"
    figures = f"{explored.states:,} | {explored.transitions:,} | {explored.longest}"
    return f"| {name} | {figures} | {how} |"


if __name__ == "__main__":
    raise SystemExit(main())
