"""Whether a call may run, decided independently of the loop."""

import hashlib
import json

from stepfold.loop import Program, Replied
from stepfold.values import NamedTool, ToolCall, ToolChoice


def arguments_fault(program: Program, call: ToolCall) -> str | None:
    """What is wrong with the arguments of a call; read by the standard library's decoder."""
    text = call.input if call.input.strip() else "{}"
    try:
        value: object = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    spec = program.tools.get(call.tool_name)
    if spec is None:
        return f"no tool {call.tool_name!r}"
    faults = spec.check(value)
    return str(faults[0]) if faults else None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        msg = "a key occurs twice in one object"
        raise ValueError(msg)
    return members


def choice_fault(program: Program, replied: Replied, call: ToolCall) -> str | None:
    """How a reply, or this call of it, broke the tool choice of its step, if it did."""
    plan = replied.plan
    choice: ToolChoice = program.tool_choice
    if plan is not None and plan.tool_choice is not None:
        choice = plan.tool_choice
    if replied.wrap is not None:
        choice = "none"
    called = {part.tool_name for part in replied.reply.content if isinstance(part, ToolCall)}
    match choice:
        case "none":
            return "no tool was allowed" if called else None
        case NamedTool(name) if name not in called:
            return f"{name} had to be called"
        case _:
            pass
    active = program.active_tools
    if plan is not None and plan.active_tools is not None:
        active = plan.active_tools
    if active is None or call.tool_name in active or call.tool_name == program.output.needs_call:
        return None
    return f"{call.tool_name} was not active"


def digest_of(call: ToolCall) -> str:
    """What an approval of these arguments is bound to."""
    value: object = json.loads(call.input if call.input.strip() else "{}")
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def digest_if_any(call: ToolCall) -> str | None:
    """As `digest_of`; `None` for arguments that are no JSON, or have no UTF-8 form."""
    try:
        return digest_of(call)
    except (ValueError, RecursionError):
        return None
