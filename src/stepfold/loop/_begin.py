"""`begin`: from a prompt to the first state.

A history comes from outside and may be half-written. It is repaired once, here, and history only
grows from there: results without a call are dropped, and so are calls that repeat an id of their
own message; calls that nobody will answer are closed as interrupted, in place. Calls whose approval
was answered, or is still open, become the slots of a pre-phase (step -1); messages that follow them
are held back until their results are written.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from stepfold.loop._calls import (
    argument_text,
    ask,
    closed,
    denied_part,
    fault_of,
    finished,
    permit,
)
from stepfold.loop._close import advance, next_step
from stepfold.loop._draft import Draft, Work
from stepfold.loop._ids import NO_IDS
from stepfold.loop._program import RULES, Program
from stepfold.loop._state import (
    Approval,
    Identity,
    Inbox,
    Ledger,
    LoopState,
    Preparing,
    Slot,
    Transcript,
    Transition,
    slot_key,
)
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    ErrorTextOutput,
    Instant,
    JsonText,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UsageError,
    UserMessage,
)

_UNANSWERED = "interrupted: this call was never answered"
_OVERTAKEN = "not run: the conversation went on before anybody approved this call"
_DRIFTED = "not run: the arguments are not those that approval was asked for"


def begin(
    program: Program, prompt: str | Sequence[Message], *, run: str, seed: int, at: Instant
) -> Transition:
    """Start a run: check and repair the history, and issue the first commands.

    `run` names the run (ids of calls and approvals derive from it); `seed` decides the jitter of
    retries; `at` is the time, in nanoseconds. The caller's sequence is not kept.

    Raises:
        UsageError: the prompt is empty, not made of messages, or holds a system message although
            the program does not allow it.
    """
    given = _standardised(program, prompt)
    repair = _Repair(program, given)
    identity = Identity(run, seed, at, program.fingerprint, RULES)
    transcript = Transcript(tuple(repair.kept), held_back=tuple(repair.held_back))
    state = LoopState(
        identity,
        at,
        transcript,
        Ledger(),
        Preparing(0, at),
        Inbox(),
        call_ids=NO_IDS.adding(repair.call_ids),
    )
    out = Draft(state)
    out.at(at)
    if repair.open:
        slots = [
            _pre_phase_slot(program, Slot(index, call, "ready"), request, response, out)
            if response is not None or not repair.held_back
            else closed(-1, Slot(index, call, "ready"), "interrupted", _OVERTAKEN, out)
            for index, (call, request, response) in enumerate(repair.open)
        ]
        unresolved = sum(slot.is_unresolved for slot in slots)
        advance(program, out, Work(-1, None, slots, unresolved=unresolved))
    else:
        next_step(program, out, 0)
    return Transition(out.state(), tuple(out.commands), tuple(out.notes))


def _standardised(program: Program, prompt: str | Sequence[Message]) -> tuple[Message, ...]:
    if isinstance(prompt, str):
        if not prompt:
            msg = "prompt: expected text or messages, got an empty string"
            raise UsageError(msg)
        return (UserMessage(prompt),)
    if not hasattr(prompt, "__iter__"):
        msg = f"prompt: expected text or a sequence of messages, got {type(prompt).__name__}"
        raise UsageError(msg)
    messages: list[Message] = []
    for index, message in enumerate(prompt):
        _require_message(program, index, message)
        messages.append(message)
    if not messages:
        msg = "prompt: expected at least one message, got none"
        raise UsageError(msg)
    return tuple(messages)


def _require_message(program: Program, index: int, given: object) -> None:
    if not isinstance(given, SystemMessage | UserMessage | AssistantMessage | ToolMessage):
        msg = f"prompt[{index}]: expected a message, got {type(given).__name__}"
        raise UsageError(msg)
    if isinstance(given, SystemMessage) and not program.allow_system_messages:
        msg = (
            f"prompt[{index}]: a system message in a history is refused, since a history may "
            "come from a user: put it into `instructions`, or set allow_system_messages=True"
        )
        raise UsageError(msg)


class _Repair:
    """One walk over a history from outside."""

    def __init__(self, program: Program, messages: tuple[Message, ...]) -> None:
        self.program: Final = program
        self.kept: Final[list[Message]] = []
        self.held_back: Final[list[Message]] = []
        self.call_ids: Final[set[str]] = set()
        self.open: list[tuple[ToolCall, ApprovalRequest, ApprovalResponse | None]] = []
        self._responses: Final = _responses_in(messages)
        last = max(
            (i for i, m in enumerate(messages) if isinstance(m, AssistantMessage)), default=-1
        )
        place = 0
        while place < len(messages):
            message = messages[place]
            if isinstance(message, AssistantMessage):
                said = _with_ids_once(message)
                place = self._turn(said, messages, place + 1, is_last=place == last)
            elif isinstance(message, ToolMessage):
                self._keep(_only_responses(message))
                place += 1
            else:
                self._keep(message)
                place += 1

    def _keep(self, message: Message | None) -> None:
        if message is not None:
            (self.held_back if self.open else self.kept).append(message)

    def _turn(
        self, said: AssistantMessage, messages: tuple[Message, ...], place: int, *, is_last: bool
    ) -> int:
        """Take in an assistant message and the tool messages after it; gives what follows."""
        answers: list[ToolMessage] = []
        while place < len(messages) and isinstance(answer := messages[place], ToolMessage):
            answers.append(answer)
            place += 1
        calls = [
            part
            for part in said.content
            if isinstance(part, ToolCall) and not part.provider_executed
        ]
        self.call_ids.update(
            part.tool_call_id for part in said.content if isinstance(part, ToolCall)
        )
        owed = {call.tool_call_id: call for call in calls}
        paired: list[ToolMessage] = []
        for answer in answers:
            content = [
                part
                for part in answer.content
                if isinstance(part, ApprovalResponse) or _taken(owed, part.tool_call_id)
            ]
            if len(content) == len(answer.content):
                paired.append(answer)
            elif content:
                paired.append(ToolMessage(content, provider_options=answer.provider_options))
        self._keep(said)
        unanswered = self._settle(said, owed, is_last=is_last)
        self.kept.extend(paired)
        if unanswered:
            self.kept.append(ToolMessage(unanswered))
        return place

    def _settle(
        self, said: AssistantMessage, owed: Mapping[str, ToolCall], *, is_last: bool
    ) -> list[ToolPart]:
        """Close the calls that nobody will answer; keep those that an approval is for."""
        requests = {
            part.tool_call_id: part for part in said.content if isinstance(part, ApprovalRequest)
        }
        unanswered: list[ToolPart] = []
        for call_id, call in owed.items():
            request = requests.get(call_id)
            if request is None or not is_last:
                output = ErrorTextOutput(_UNANSWERED)
                unanswered.append(ToolResult(call_id, call.tool_name, output))
            else:
                self.open.append((call, request, self._responses.get(request.approval_id)))
        return unanswered


def _with_ids_once(said: AssistantMessage) -> AssistantMessage:
    """A turn in which each call has an id of its own; a second call of the same id is dropped.

    No result could tell which of the two it answers.
    """
    seen: set[str] = set()
    content: list[AssistantPart] = []
    for part in said.content:
        if isinstance(part, ToolCall):
            if part.tool_call_id in seen:
                continue
            seen.add(part.tool_call_id)
        content.append(part)
    if len(content) == len(said.content):
        return said
    return AssistantMessage(content, provider_options=said.provider_options)


def _taken(owed: dict[str, ToolCall], call_id: str) -> bool:
    """Whether a result answers a call that is still owed; each call is answered once."""
    return owed.pop(call_id, None) is not None


def _responses_in(messages: tuple[Message, ...]) -> dict[str, ApprovalResponse]:
    """The first response to each request: it wins."""
    responses: dict[str, ApprovalResponse] = {}
    for message in messages:
        if isinstance(message, ToolMessage):
            for part in message.content:
                if isinstance(part, ApprovalResponse):
                    responses.setdefault(part.approval_id, part)
    return responses


def _only_responses(message: ToolMessage) -> ToolMessage | None:
    """A tool message that answers no call: its results are orphans and are dropped."""
    content = tuple(part for part in message.content if isinstance(part, ApprovalResponse))
    return ToolMessage(content, provider_options=message.provider_options) if content else None


def _pre_phase_slot(
    program: Program,
    slot: Slot,
    request: ApprovalRequest,
    response: ApprovalResponse | None,
    out: Draft,
) -> Slot:
    """A call from the history: validated again, and run only if exactly this was approved."""
    call, key = slot.call, slot_key(-1, slot)
    error = fault_of(program, program.tools, call)
    if error is not None:
        return closed(-1, slot, "invalid", error, out)
    digest = JsonText(argument_text(call)).digest()
    if request.digest is not None and request.digest != digest:
        return closed(-1, slot, "invalid", _DRIFTED, out)
    if response is None:
        approval = Approval(request.approval_id, digest, asked_because=request.reason)
        return ask(key, slot, approval, out)
    if not response.approved:
        return finished(key, slot, denied_part(call, response.reason), out)
    return permit(program.tools[call.tool_name], key, slot, out)
