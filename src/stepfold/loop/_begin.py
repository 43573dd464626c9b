"""`begin`: from a prompt to the first state.

The history is repaired once (`stepfold.loop._history` says how), and only grows from there. Calls
whose approval was answered, or is still open, become the slots of a pre-phase (step -1: see
`stepfold.loop._pre_phase`), and so do calls at the very end that a client may still answer;
messages that follow them are held back until their results are written.
"""

from collections.abc import Sequence

from stepfold.loop._close import advance, next_step
from stepfold.loop._draft import Draft
from stepfold.loop._granted import Granted, prices_of
from stepfold.loop._history import repair_history
from stepfold.loop._ids import NO_IDS
from stepfold.loop._plan import object_fault
from stepfold.loop._pre_phase import PRE_PHASE, Asked, pre_phase
from stepfold.loop._program import RULES, Program
from stepfold.loop._provider_approval import asked_in
from stepfold.loop._standardise import standardise_prompt
from stepfold.loop._state import (
    Identity,
    Inbox,
    Ledger,
    LoopState,
    Preparing,
    Transcript,
    Transition,
)
from stepfold.loop.notes import HistoryRepaired
from stepfold.values import (
    EMPTY_OBJECT,
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Instant,
    JsonText,
    Message,
    ToolCall,
    ToolMessage,
    UsageError,
)


def begin(
    program: Program,
    prompt: str | Sequence[Message],
    *,
    run: str,
    seed: int,
    at: Instant,
    runtime_context: JsonText = EMPTY_OBJECT,
    granted: Granted | None = None,
) -> Transition:
    """Start a run: check and repair the history, and issue the first commands.

    `run` names the run (ids of calls and approvals derive from it); `seed` decides the jitter of
    retries; `at` is the time, in nanoseconds; `runtime_context` is a JSON object that is handed on
    to tools, policies and the prepare function; `granted` is what the run may spend as that of a
    tool call. The caller's sequence is not kept. What was mended
    in it is the first note: `HistoryRepaired`.

    Raises:
        UsageError: the prompt is empty, not made of messages, or holds what `repair_history`
            cannot mend, such as a system message although the program does not allow it; or the
            context is no JSON object within the program's bounds.
    """
    fault = object_fault(runtime_context, program.bounds)
    if fault is not None:
        msg = f"runtime_context: {fault}"
        raise UsageError(msg)
    history = repair_history(
        standardise_prompt(prompt),
        allow_system_messages=program.allow_system_messages,
        client_tools=program.client_tools,
    )
    for finding in history.refused:
        part = "" if finding.part is None else f".content[{finding.part}]"
        msg = f"prompt[{finding.message}]{part}: {finding.problem}"
        raise UsageError(msg)
    kept, held_back, open_calls = _open_calls(history.messages)
    identity = Identity(run, seed, at, program.fingerprint, RULES, granted=granted)
    state = LoopState(
        identity,
        at,
        Transcript(kept, held_back=held_back, initial=len(kept), runtime_context=runtime_context),
        Ledger(cost=0 if prices_of(program, granted) else None),
        Preparing(PRE_PHASE, at),
        Inbox(),
        call_ids=NO_IDS.adding(_call_ids(history.messages)),
    )
    out = Draft(state)
    out.at(at)
    if history.mended:
        out.notes.append(HistoryRepaired(history.mended))
    if open_calls:
        advance(program, out, pre_phase(program, open_calls, out))
    else:
        next_step(program, out, 0)
    return Transition(out.state(), tuple(out.commands), tuple(out.notes))


def _call_ids(messages: tuple[Message, ...]) -> set[str]:
    return {
        part.tool_call_id
        for message in messages
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolCall)
    }


def _open_calls(
    messages: tuple[Message, ...],
) -> tuple[tuple[Message, ...], tuple[Message, ...], list[Asked]]:
    """What a repaired history leaves to be done: calls of its last turn, with their approvals.

    Gives the messages up to the answers that are there, those that have to wait for the others,
    and the calls. Only a response that came after its request counts, and of several the first.
    What a provider asked is still open if nobody has answered or spoken since.
    """
    last = max((i for i, m in enumerate(messages) if isinstance(m, AssistantMessage)), default=0)
    said = messages[last]
    if not isinstance(said, AssistantMessage):
        return messages, (), []
    answered: set[tuple[str, bool]] = set()
    responses: dict[str, ApprovalResponse] = {}
    for message in messages[last + 1 :]:
        if isinstance(message, ToolMessage):
            for part in message.content:
                if isinstance(part, ApprovalResponse):
                    responses.setdefault(part.approval_id, part)
                else:
                    answered.add((part.tool_call_id, part.provider_executed))
    requests = {
        part.tool_call_id: part for part in said.content if isinstance(part, ApprovalRequest)
    }
    end = last + 1
    while end < len(messages) and isinstance(messages[end], ToolMessage):
        end += 1
    by_provider = asked_in(said.content) if end == len(messages) else {}
    open_calls: list[Asked] = []
    for call in said.content:
        if not isinstance(call, ToolCall):
            continue
        if (call.tool_call_id, call.provider_executed) in answered:
            continue
        request = requests.get(call.tool_call_id)
        response = None if request is None else responses.get(request.approval_id)
        is_asked = call.tool_call_id in by_provider and response is None
        if not call.provider_executed or is_asked:
            open_calls.append(Asked(call, request, response))
    if not open_calls:
        return messages, (), []
    return messages[:end], messages[end:], open_calls
