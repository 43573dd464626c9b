"""What models are made of: scripts, layers, and bytes as a network cuts them."""

from collections.abc import Sequence

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold.ports import Middleware, compose
from stepfold.shell import default_settings, extract_reasoning, map_reply, simulate_streaming
from stepfold.testing._scripted import Scripted
from stepfold.testing.strategies._programs import TOOL_NAMES, flags
from stepfold.testing.strategies._worlds import model_errors, model_replies
from stepfold.values import CallSettings, ModelReply, Text


def scripts(
    *,
    tools: Sequence[str] = TOOL_NAMES,
    min_replies: int = 1,
    max_replies: int = 4,
    failing: int = 15,
    hostile: int = 15,
    cut: int = 15,
) -> SearchStrategy[list[Scripted]]:
    """Draw scripts for a `ScriptedModel`; so many of a hundred items are `failing`.

    `hostile` and `cut` are percentages of calls and of replies, as for `model_replies`. The last
    item is a final answer, so that a run comes to its end.
    """
    replies = model_replies(tools=tools, hostile=hostile, cut=cut)
    failures: SearchStrategy[Scripted] = model_errors()
    item = flags(percent=failing).flatmap(lambda fails: failures if fails else replies)
    items = st.lists(item, min_size=min_replies, max_size=max_replies)
    final = model_replies(tools=(), max_calls=0, cut=0)
    return st.builds(_ended, items, final)


def _ended(items: list[Scripted], final: ModelReply) -> list[Scripted]:
    return [*items, final]


def middlewares(*, min_layers: int = 0, max_layers: int = 3) -> SearchStrategy[Middleware]:
    """Draw lawful middleware: shipped layers, and several of them composed."""
    layers: list[Middleware] = [
        compose(),
        simulate_streaming(),
        extract_reasoning(tag="think"),
        default_settings(settings=CallSettings(temperature=0.0)),
        map_reply(_shouted),
    ]
    several = st.lists(st.sampled_from(layers), min_size=min_layers, max_size=max_layers)
    return several.map(lambda chosen: compose(*chosen))


def _shouted(reply: ModelReply) -> ModelReply:
    content = tuple(
        evolve(part, text=part.text.upper()) if isinstance(part, Text) else part
        for part in reply.content
    )
    return evolve(reply, content=content)


def byte_chunkings(
    *, data: bytes, min_cuts: int = 0, max_cuts: int = 8
) -> SearchStrategy[tuple[bytes, ...]]:
    """Draw how a network may cut bytes; pieces may be empty, and joined they are the data."""
    points = st.lists(st.integers(0, len(data)), min_size=min_cuts, max_size=max_cuts)
    return points.map(lambda drawn: _cut(data, sorted(drawn)))


def _cut(data: bytes, points: Sequence[int]) -> tuple[bytes, ...]:
    starts, ends = (0, *points), (*points, len(data))
    return tuple(data[start:end] for start, end in zip(starts, ends, strict=True))
