"""How often in a row a tool's errors are told to the model before the run stops.

Counted are errors that the model could mend by calling again: invalid arguments, a tool that failed
or took too long. A result sets the count back; what was not run at all leaves it as it is.
"""

from collections.abc import Sequence

from attrs import evolve

from stepfold.loop._draft import Draft
from stepfold.loop._program import Program
from stepfold.loop._slots import Slot
from stepfold.values import DeniedOutput, JsonText, Stop, ToolError, ToolErrorKind

LIMIT_RETRIES = "limit-retries"
_COUNTED: frozenset[ToolErrorKind] = frozenset({"failed", "invalid", "timeout"})


def count_errors(program: Program, out: Draft, slots: Sequence[Slot]) -> None:
    """Count what a step's calls came to, in call order, for tools that have `max_retries`."""
    counts = dict(out.toolbox.errors)
    for slot in slots:
        name, part = slot.call.tool_name, slot.part
        if part is None or name not in program.max_retries:
            continue
        if isinstance(part, ToolError):
            counts[name] = counts.get(name, 0) + (part.kind in _COUNTED)
        elif not isinstance(part.output, DeniedOutput):
            counts[name] = 0
    errors = tuple(sorted(pair for pair in counts.items() if pair[1]))
    if errors != out.toolbox.errors:
        out.toolbox = evolve(out.toolbox, errors=errors)


def retries_met(program: Program, out: Draft) -> Stop | None:
    """The limit of the first tool, by name, whose errors have not been mended in time."""
    for name, count in out.toolbox.errors:
        limit = program.max_retries.get(name)
        if limit is not None and count > limit:
            evidence = {"tool": name, "reached": count, "limit": limit}
            return Stop(LIMIT_RETRIES, JsonText.of(evidence))
    return None
