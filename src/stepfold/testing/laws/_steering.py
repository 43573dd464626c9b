"""The law of what is said to a run while it goes on: it is heard once, or said to be dropped."""

from collections import Counter

from stepfold.loop import Done
from stepfold.loop.events import MessageSteered
from stepfold.loop.notes import SteeringDelivered, SteeringDropped
from stepfold.testing._simulation import Trace
from stepfold.testing.laws._equal import require, require_equal


def words_are_heard_once(trace: Trace) -> None:
    """Laws 4 and 5: each word to a run is heard once, is dropped and said so, or still waits.

    Words of one kind are heard in the order in which they came: those to be heard at once, and
    those that wait for a final answer. What was dropped is not in the history.
    """
    start = trace.start.state
    came = [moment.event for moment in trace.moments if moment.changed]
    words = [*start.inbox.waiting, *(one for one in came if isinstance(one, MessageSteered))]
    said = {word.id: word for word in words}
    notes = [note for transition in trace.transitions for note in transition.notes]
    heard = [note.id for note in notes if isinstance(note, SteeringDelivered)]
    dropped = [note.id for note in notes if isinstance(note, SteeringDropped)]
    waiting = [word.id for word in trace.end.inbox.waiting]
    told = sorted([*heard, *dropped, *waiting])
    require_equal(told, sorted(word.id for word in words), "each word has one fate")
    if isinstance(trace.end.phase, Done):
        require(not waiting, f"words still wait after the end: {waiting}")
    for mode in ("steer", "queue"):
        in_order = [name for name in said if said[name].mode == mode and name in heard]
        order = [name for name in heard if said[name].mode == mode]
        require_equal(order, in_order, f"words to {mode} are heard in the order in which they came")
    history = Counter(trace.end.messages[len(start.messages) :])
    expected = Counter(said[name].message for name in heard)
    for word in words:
        times = (history[word.message], expected[word.message])
        require_equal(*times, f"how often {word.message!r:.200} is in the history, and was heard")
