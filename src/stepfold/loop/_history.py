"""What is wrong with a history, and how it is mended: said in findings, done in one walk.

A history comes from outside and may be half-written. `repair_history` makes of it one that
providers take, and `begin` starts from there. The rules:

* A result answers the last call of its id before it. A result of no call, and a second one, are
  dropped. One that does not stand in the tool messages right after its call is moved there: what a
  tool said is not lost while there is a call to hold it.
* A second call of the same id in one message is dropped, since no result could tell which of the
  two it answers; so is a second request for the approval of one call, or under one id.
* Who executes a call has to hear of the answer to a request for its approval: a response that says
  otherwise is corrected.
* A call that nobody will answer is closed as interrupted, in place. Left open are the calls of
  the last turn that wait for an approval, and those whose approval was answered since: a run goes
  on with them. But when somebody has spoken since, a request that nobody answered is closed too.
* What such a message cannot hold, and instructions where none are allowed, are not mended:
  `begin` refuses them, for it cannot know what was meant, or who wrote them.

Everything else is kept as it is, and what is merely odd is a warning.
"""

from collections.abc import Collection, Sequence
from typing import Final

from attrs import define, evolve, field
from typing_extensions import TypeIs

from stepfold.loop._findings import Finding, FindingKind, RepairedHistory
from stepfold.loop._standardise import require_messages
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    Custom,
    ErrorTextOutput,
    Failure,
    File,
    Message,
    Outcome,
    Reasoning,
    ReasoningFile,
    Success,
    SystemMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UserMessage,
    without_lone_surrogates,
)

_UNANSWERED: Final = "interrupted: this call was never answered"
_OVERTAKEN: Final = "not run: the conversation went on before anybody approved this call"
_REFUSED: Final = (
    "a system message in a history is refused, since a history may come from a user: put it into "
    "`instructions`, or set allow_system_messages=True"
)
_DROPPED: Final = "it is dropped"
_CLOSED: Final = "it is closed as interrupted"
_MOVED: Final = "it is moved to its call"

_SAID: Final = (
    Text,
    Reasoning,
    ToolCall,
    ToolResult,
    File,
    ReasoningFile,
    Custom,
    ApprovalRequest,
)


def inspect_history(
    messages: Sequence[Message], *, allow_system_messages: bool = False
) -> tuple[Finding, ...]:
    """Say what is wrong or odd in a history, sorted by place; nothing is changed.

    With `allow_system_messages`, instructions at the start of a history are in order, and later
    ones are a warning.

    Raises:
        UsageError: something in it is no message.
    """
    return repair_history(messages, allow_system_messages=allow_system_messages).findings


def validate_history(
    messages: Sequence[Message], *, allow_system_messages: bool = False
) -> Outcome[tuple[Message, ...], tuple[Finding, ...]]:
    """Give the messages if they can be sent as they are, else what is wrong with them.

    The failure holds errors only, at least one, sorted by place. See `inspect_history`.

    Raises:
        UsageError: something in it is no message.
    """
    repaired = repair_history(messages, allow_system_messages=allow_system_messages)
    errors = tuple(finding for finding in repaired.findings if finding.severity == "error")
    return Failure(errors) if errors else Success(repaired.messages)


def repair_history(
    messages: Sequence[Message],
    *,
    allow_system_messages: bool = False,
    client_tools: Collection[str] = (),
) -> RepairedHistory:
    """Mend a history so that it can be sent, and say what was done.

    Messages that need no change are the same objects. Repairing what was repaired changes nothing.
    Calls of `client_tools` are left open where nothing but answers follows: a client may still give
    theirs. What `begin` refuses is left as it is: see `RepairedHistory.refused` and
    `inspect_history`.

    Raises:
        UsageError: something in it is no message.
    """
    given = require_messages("messages", messages)
    walk = _Walk(given, client_tools, allow_system_messages=allow_system_messages)
    # a message with a finding of its own has none of its parts
    found = sorted(walk.findings, key=lambda one: (one.message, one.part or 0))
    return RepairedHistory(tuple(walk.repaired()), tuple(found))


@define(eq=False)
class _Turn:
    """An assistant message: its client calls, what has answered them, and what is to be added."""

    place: int
    calls: dict[str, tuple[int, ToolCall]] = field(factory=dict[str, tuple[int, ToolCall]])
    requests: dict[str, ApprovalRequest] = field(factory=dict[str, ApprovalRequest])
    answered: set[str] = field(factory=set[str])
    additions: list[ToolMessage] = field(factory=list[ToolMessage])


class _Walk:
    """One walk over a history."""

    def __init__(
        self,
        messages: tuple[Message, ...],
        client_tools: Collection[str],
        *,
        allow_system_messages: bool,
    ) -> None:
        self.findings: Final[list[Finding]] = []
        self._messages: Final = messages
        self._client_tools: Final = client_tools
        self._allows_system: Final = allow_system_messages
        self._turns: Final[dict[int, _Turn]] = {}
        self._called: Final[dict[str, _Turn]] = {}  # the last client call of each id
        self._provider_calls: Final[set[str]] = set()
        self._asked: Final[set[str]] = set()  # ids of requests without a response
        self._decided: Final[set[str]] = set()  # ids of those that have one
        self._by_provider: Final[dict[str, bool]] = {}  # who executes the call of a request
        self._answering: _Turn | None = None  # the turn right after which this message stands
        self._last: _Turn | None = None
        self._responses: Final[set[str]] = set()  # since the last turn
        self._changed: Final[dict[int, Message | None]] = {}
        for place, message in enumerate(messages):
            self._place = place
            self._visit(message)
        for turn in self._turns.values():
            self._close(turn)

    def repaired(self) -> list[Message]:
        """The history as it should be."""
        kept: list[Message] = []
        turn: _Turn | None = None
        for place, message in enumerate(self._messages):
            if turn is not None and not isinstance(message, ToolMessage):
                kept += turn.additions
            turn = self._turns.get(place, turn if isinstance(message, ToolMessage) else None)
            new = self._changed.get(place, message)
            if new is not None:
                kept.append(new)
        return kept if turn is None else [*kept, *turn.additions]

    # --- what is found ------------------------------------------------------------------------

    def _mend(self, kind: FindingKind, part: int, problem: str, mend: str) -> None:
        self.findings.append(Finding(kind, "error", self._place, part, problem, mend))

    def _refuse(self, kind: FindingKind, part: int | None, problem: str) -> None:
        self.findings.append(Finding(kind, "error", self._place, part, problem))

    def _warn(self, kind: FindingKind, part: int | None, problem: str) -> None:
        self.findings.append(Finding(kind, "warning", self._place, part, problem))

    # --- messages -----------------------------------------------------------------------------

    def _visit(self, message: Message) -> None:
        match message:
            case ToolMessage():
                self._look_at(message.content, (ToolResult, ApprovalResponse), "a tool message")
                self._take_answers(message)
            case AssistantMessage():
                self._look_at(message.content, _SAID, "an assistant message")
                self._take_turn(message)
            case UserMessage():
                self._answering, self._was_spoken_since = None, True
                self._look_at(message.content, (Text, File), "a user message")
            case SystemMessage(content):
                self._answering, self._was_spoken_since = None, True
                if not self._allows_system:
                    self._refuse("system-message", None, _REFUSED)
                elif self._place and not isinstance(self._messages[self._place - 1], SystemMessage):
                    problem = "models may overlook instructions that do not stand at the start"
                    self._warn("system-message", None, problem)
                if not content:
                    self._warn("empty-message", None, "it says nothing")
                self._look_at_text(content, None)

    def _look_at(self, content: Sequence[object], kinds: tuple[type, ...], where: str) -> None:
        """Find what a message cannot hold, and texts that are odd."""
        if not content:
            self._warn("empty-message", None, "it says nothing, and is left out of prompts")
        for index, part in enumerate(content):
            if not isinstance(part, kinds):
                problem = f"{where} cannot hold a part of type {type(part).__name__}"
                self._refuse("misplaced-part", index, problem)
            elif isinstance(part, Text):
                if not part.text and part.provider_options is None:
                    self._warn("empty-text", index, "it says nothing, and is left out of prompts")
                self._look_at_text(part.text, index)

    def _look_at_text(self, text: object, part: int | None) -> None:
        if not isinstance(text, str):
            self._refuse("misplaced-part", part, f"a text cannot be of type {type(text).__name__}")
        elif without_lone_surrogates(text) != text:
            problem = "half of a surrogate pair has no UTF-8 form: providers get '\ufffd' for it"
            self._warn("lone-surrogate", part, problem)

    # --- what the model said ------------------------------------------------------------------

    def _take_turn(self, said: AssistantMessage) -> None:
        turn = self._answering = self._last = self._turns[self._place] = _Turn(self._place)
        self._was_spoken_since = False
        self._responses.clear()
        called: set[str] = set()
        dropped: set[int] = set()
        for index, part in enumerate(said.content):
            if isinstance(part, ToolCall):
                if part.tool_call_id in called:
                    problem = f"the call {part.tool_call_id!r} is there a second time"
                    self._mend("duplicate-call", index, problem, _DROPPED)
                    dropped.add(index)
                else:
                    called.add(part.tool_call_id)
                    self._take_call(turn, index, part)
        for index, part in enumerate(said.content):
            if isinstance(part, ApprovalRequest):
                if self._is_repeated(turn, index, part, called):
                    dropped.add(index)
            elif isinstance(part, ToolResult) and self._is_client_result(index, part):
                dropped.add(index)
        if dropped:
            content: list[AssistantPart] = [
                part for index, part in enumerate(said.content) if index not in dropped
            ]
            self._changed[self._place] = (
                AssistantMessage(content, provider_options=said.provider_options)
                if content
                else None
            )

    def _take_call(self, turn: _Turn, index: int, call: ToolCall) -> None:
        call_id = call.tool_call_id
        if call_id in self._called or call_id in self._provider_calls:
            problem = f"an earlier message has a call {call_id!r}: some providers refuse that"
            self._warn("reused-id", index, problem)
        if call.provider_executed:
            self._provider_calls.add(call_id)
        else:
            turn.calls[call_id] = (index, call)
            self._called[call_id] = turn

    def _is_repeated(
        self, turn: _Turn, index: int, request: ApprovalRequest, called: set[str]
    ) -> bool:
        """Take a request in, unless there is one for its call or under its id."""
        ids = {one.approval_id for one in turn.requests.values()}
        if request.tool_call_id in turn.requests or request.approval_id in ids:
            problem = f"the approval {request.approval_id!r} was asked for in this message"
            self._mend("duplicate-approval", index, problem, _DROPPED)
            return True
        turn.requests[request.tool_call_id] = request
        self._asked.add(request.approval_id)
        self._by_provider[request.approval_id] = (
            request.tool_call_id in self._provider_calls and request.tool_call_id not in turn.calls
        )
        if request.tool_call_id not in called:
            problem = f"it asks for the approval of {request.tool_call_id!r}, which is not here"
            self._warn("orphan-approval", index, problem)
        return False

    def _is_client_result(self, index: int, result: ToolResult) -> bool:
        """Move a result of ours from where only those of the provider may stand."""
        if result.provider_executed or result.tool_call_id not in self._called:
            return False
        answered = self._answered(index, result)
        if answered is not None:
            problem = f"the result of {result.tool_call_id!r} stands in an assistant message"
            self._mend("misplaced-result", index, problem, _MOVED)
            answered.additions.append(ToolMessage((result,)))
        return True

    # --- what was answered --------------------------------------------------------------------

    def _take_answers(self, message: ToolMessage) -> None:
        dropped: set[int] = set()
        corrected: dict[int, ToolPart] = {}
        moved: dict[int, list[ToolPart]] = {}
        results: list[tuple[int, ToolResult]] = []
        for index, part in enumerate(message.content):
            if isinstance(part, ApprovalResponse):
                if self._is_told_again(index, part):
                    dropped.add(index)
                else:
                    self._address(index, part, corrected)
            elif _is_result(part):
                results.append((index, part))
        for index, result in results:
            if result.provider_executed:
                if result.tool_call_id not in self._provider_calls:
                    problem = f"the provider made no call {result.tool_call_id!r} before it"
                    self._mend("orphan-result", index, problem, _DROPPED)
                    dropped.add(index)
                continue
            turn = self._answered(index, result)
            if turn is None:
                dropped.add(index)
            elif turn is not self._answering:
                problem = f"the result of {result.tool_call_id!r} does not follow its call"
                self._mend("misplaced-result", index, problem, _MOVED)
                moved.setdefault(turn.place, []).append(result)
                dropped.add(index)
        options = message.provider_options
        for place, parts in moved.items():
            self._turns[place].additions.append(ToolMessage(parts, provider_options=options))
        if dropped or corrected:
            content = [
                corrected.get(index, part)
                for index, part in enumerate(message.content)
                if index not in dropped
            ]
            self._changed[self._place] = (
                ToolMessage(content, provider_options=options) if content else None
            )

    def _answered(self, index: int, result: ToolResult) -> _Turn | None:
        """The turn whose call a result answers, if it is the first to do so."""
        call_id = result.tool_call_id
        turn = self._called.get(call_id)
        if turn is None:
            problem = f"there is no call {call_id!r} before it"
            self._mend("orphan-result", index, problem, _DROPPED)
        elif call_id in turn.answered:
            problem = f"the call {call_id!r} has a result already"
            self._mend("duplicate-result", index, problem, _DROPPED)
        else:
            turn.answered.add(call_id)
            return turn
        return None

    def _is_told_again(self, index: int, response: ApprovalResponse) -> bool:
        """Take a response in, unless the provider that asked for it has heard one."""
        approval_id = response.approval_id
        self._responses.add(approval_id)
        if approval_id in self._asked:
            self._asked.remove(approval_id)
            self._decided.add(approval_id)
        elif approval_id in self._decided:
            problem = f"the approval {approval_id!r} was answered before: the first answer counts"
            if self._by_provider[approval_id]:
                self._mend("duplicate-response", index, problem, _DROPPED)
                return True
            self._warn("duplicate-response", index, problem)
        else:
            problem = f"nobody asked for the approval {approval_id!r} before it"
            self._warn("orphan-response", index, problem)
        return False

    def _address(
        self, index: int, response: ApprovalResponse, corrected: dict[int, ToolPart]
    ) -> None:
        """Let the provider hear of the answers to its own requests, and of no others."""
        by_provider = self._by_provider.get(response.approval_id, response.provider_executed)
        if by_provider != response.provider_executed:
            who = "the provider" if by_provider else "the program"
            problem = f"{who} executes the call that the response {response.approval_id!r} is for"
            self._mend("misaddressed-response", index, problem, "it is corrected")
            corrected[index] = evolve(response, provider_executed=by_provider)

    def _close(self, turn: _Turn) -> None:
        """Close the calls of a turn that nobody will answer."""
        self._place = turn.place
        closed: list[ToolPart] = []
        for call_id, (index, call) in turn.calls.items():
            if call_id in turn.answered:
                continue
            request = turn.requests.get(call_id)
            if request is None and self._may_be_answered(turn, call):
                continue
            if turn is not self._last or request is None:
                problem, output = f"the call {call_id!r} has no result", _UNANSWERED
                self._mend("open-call", index, problem, _CLOSED)
            elif self._was_spoken_since and request.approval_id not in self._responses:
                problem = f"somebody spoke before the call {call_id!r} was approved"
                output = _OVERTAKEN
                self._mend("overtaken-approval", index, problem, "it is closed as not run")
            else:
                continue
            closed.append(ToolResult(call_id, call.tool_name, ErrorTextOutput(output)))
        if closed:
            turn.additions.append(ToolMessage(closed))

    def _may_be_answered(self, turn: _Turn, call: ToolCall) -> bool:
        """Whether a client may still answer a call."""
        is_last = turn is self._last and not self._was_spoken_since
        return is_last and call.tool_name in self._client_tools


def _is_result(part: object) -> TypeIs[ToolResult]:
    """A part may be of any type, where nobody has checked them."""
    return isinstance(part, ToolResult)
