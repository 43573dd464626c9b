"""Speaking to a run from beside it."""

import threading
from collections import deque
from typing import Final, Literal, final

from stepfold.loop import Done, LoopState, Resting, Transition
from stepfold.loop.events import MessageSteered
from stepfold.loop.notes import SteeringDelivered
from stepfold.values import Instant, UsageError, UserMessage

_Mode = Literal["steer", "queue"]


@final
class Steering:
    """Speaks to one run while it goes on; give it to the run as `steering=`.

    May be used from any task and any thread, before the run begins too. What is said is heard in
    the order in which it was said, and becomes an event of the run together with the next thing
    that happens in it. A word never interrupts: it waits for the step to come to rest.
    """

    __slots__ = ("_is_closed", "_is_taken", "_lock", "_told", "_waiting")

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._waiting: Final[deque[tuple[UserMessage, _Mode]]] = deque()
        self._told: Final[dict[str, UserMessage]] = {}
        self._is_taken = False
        self._is_closed = False

    def steer(self, message: str | UserMessage) -> bool:
        """Say something that the model hears in its next step; after a final answer it goes on.

        Gives whether anybody listens: not once the run rests or has ended. Where a stop condition
        or a limit leaves no room for another step, the message is dropped: see `undelivered`.

        Raises:
            UsageError: it is neither text nor a message, or empty.
        """
        return self._say(message, "steer")

    def queue(self, message: str | UserMessage) -> bool:
        """Say something that the model hears only after a final answer; otherwise as `steer`.

        Of several, each waits for a final answer of its own.

        Raises:
            UsageError: it is neither text nor a message, or empty.
        """
        return self._say(message, "queue")

    @property
    def undelivered(self) -> tuple[UserMessage, ...]:
        """What was said and never heard, in order; while the run goes on: not heard yet."""
        with self._lock:
            return (*self._told.values(), *(message for message, _ in self._waiting))

    def _say(self, given: str | UserMessage, mode: _Mode) -> bool:
        message = UserMessage(given) if isinstance(given, str) and given else given
        if not isinstance(message, UserMessage):
            raise UsageError(f"{mode}: expected text or a UserMessage, got {given!r:.200}")
        with self._lock:
            if not self._is_closed:
                self._waiting.append((message, mode))
            return not self._is_closed

    # --- the run's side -----------------------------------------------------------------------

    def join(self) -> None:
        """Let a run listen.

        Raises:
            UsageError: another run does already, or did.
        """
        if self._is_taken:
            raise UsageError("steering: expected a new one for each run, got one that was used")
        self._is_taken = True

    def heard(self, state: LoopState, at: Instant) -> MessageSteered | None:
        """The next word as an event, if there is one; a run at rest hears nothing."""
        if not self._waiting or isinstance(state.phase, Done | Resting):
            return None
        with self._lock:
            message, mode = self._waiting.popleft()
            name = f"{state.identity.run}/said/{len(state.inbox.seen)}"
            self._told[name] = message
        return MessageSteered(name, message, mode, at)

    def follow(self, transition: Transition) -> None:
        """Note what was delivered, and that nobody listens to a run that rests or has ended."""
        for note in transition.notes:
            if isinstance(note, SteeringDelivered):
                with self._lock:
                    self._told.pop(note.id, None)
        if isinstance(transition.state.phase, Done | Resting):
            with self._lock:
                self._is_closed = True
