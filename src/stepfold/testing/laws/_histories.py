"""The laws of histories from outside, whatever is in them."""

from collections import Counter
from collections.abc import Sequence

from attrs import evolve

from stepfold.loop import FindingKind, repair_history
from stepfold.testing.laws._equal import require, require_equal
from stepfold.values import ApprovalResponse, AssistantMessage, Message, SystemMessage, ToolMessage

_CLOSED: frozenset[FindingKind] = frozenset({"open-call", "overtaken-approval"})


def history_is_repaired_once(messages: Sequence[Message]) -> None:
    """Law 4: what was repaired has no error left that could be mended, and stays as it is.

    Messages that need no change are the same objects.
    """
    repaired = repair_history(messages)
    again = repair_history(repaired.messages)
    require_equal(again.mended, (), "a repaired history has errors left")
    _require_same(repaired.messages, again.messages)
    if not repaired.mended:
        _require_same(messages, repaired.messages)


def repair_loses_nothing(messages: Sequence[Message]) -> None:
    """Law 4: a repair drops the parts that its findings name, and adds a result for each open call.

    Responses that say wrongly who executes a call say it rightly afterwards. Everything else is
    there, as often as it was; what people said stands in its old order.
    """
    repaired = repair_history(messages)
    expected = Counter(part for message in messages for part in _parts(message))
    closed = 0
    for finding in repaired.mended:
        if finding.kind in _CLOSED:
            closed += 1
        elif finding.kind != "misplaced-result" and finding.part is not None:
            part = _parts(messages[finding.message])[finding.part]
            expected[part] -= 1
            if isinstance(part, ApprovalResponse):
                expected[evolve(part, provider_executed=not part.provider_executed)] += 1
    found = Counter(part for message in repaired.messages for part in _parts(message))
    require_equal(dict(expected - found), {}, "a repair lost parts")
    require_equal((found - expected).total(), closed, "a repair added something beside results")
    require_equal(_from_people(repaired.messages), _from_people(messages), "what people said")


def _require_same(given: Sequence[Message], kept: Sequence[Message]) -> None:
    require_equal(len(kept), len(given), "a repair changed a history without errors")
    for one, other in zip(given, kept, strict=True):
        require(one is other, f"a repair made another message of {one!r:.500}")


def _parts(message: Message) -> Sequence[object]:
    return (message,) if isinstance(message, SystemMessage) else message.content


def _from_people(messages: Sequence[Message]) -> list[Message]:
    return [one for one in messages if not isinstance(one, AssistantMessage | ToolMessage)]
