"""The graph of an exploration, drawn together: a node for each step and phase, and each end."""

from collections.abc import Iterable
from typing import TypeAlias

from stepfold.loop import Done, LoopState

Edge: TypeAlias = tuple[str, str, str]
"""A place, the name of an event, and the place that it leads to."""


def place_of(state: LoopState) -> str:
    """The place of a state in the graph: its step and phase, or how its run has ended."""
    phase = state.phase
    if isinstance(phase, Done):
        return type(phase.end).__name__
    name = type(phase).__name__
    return f"before the first step, {name}" if phase.step < 0 else f"step {phase.step}, {name}"


def mermaid_of(edges: Iterable[tuple[Edge, int]]) -> str:
    """A Mermaid state diagram; parallel arrows are one, with the events below each other."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (before, event, after), count in edges:
        arrows.setdefault((before, after), []).append(f"{event} {count:,}")
    places = {place: f"s{index}" for index, place in enumerate(_places(arrows))}
    lines = ["stateDiagram-v2"]
    lines += [f"    {name}: {place}" for place, name in places.items()]
    lines += [
        f"    {places[before]} --> {places[after]}: {'<br>'.join(events)}"
        for (before, after), events in arrows.items()
    ]
    return "\n".join(lines)


def _places(arrows: Iterable[tuple[str, str]]) -> Iterable[str]:
    return dict.fromkeys(place for arrow in arrows for place in arrow)
