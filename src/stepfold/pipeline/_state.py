"""Where a run of a pipeline stands, as a value: strands, each with its frames and its fan."""

from typing import TypeAlias, final

from attrs import frozen

from stepfold.pipeline._ends import PipelineEnd
from stepfold.pipeline._vector import Row
from stepfold.pipeline.commands import Command
from stepfold.pipeline.events import StageKey
from stepfold.pipeline.notes import Note
from stepfold.values import Instant, OpenRequest


@final
@frozen(order=False)
class Frame:
    """What a stage keeps while one within it runs, over the frame below.

    `deadline` is the earliest of all deadlines down to here; `at` is the instruction that made
    the frame.
    """

    below: "Frame | None"
    at: int
    value: object
    count: int
    deadline: Instant | None


@final
@frozen(order=False)
class Paused:
    """What a strand that pauses goes on with, and until when it pauses."""

    value: object
    until: Instant


@final
@frozen(order=False)
class Ended:
    """What a strand came to: a value, or the error of a failure."""

    is_success: bool
    value: object


@final
@frozen(order=False)
class Closing:
    """Where a strand goes on once all that it branched into has ended; or how the run ends then."""

    at: int
    value: object
    stack: Frame | None
    end: PipelineEnd[object, object] | None = None


@final
@frozen(order=False)
class Fan:
    """What a strand branched into: `next` has not begun yet, `running` do run."""

    branches: "Row[Branch]"
    next: int
    running: int


@final
@frozen(order=False)
class Strand:
    """One line of execution. It waits for the answer to instruction `at`, or for its fan.

    `key` says which execution that is: of which strand, and the how manieth. `value` is what the
    instruction was given, `inherited` the deadline of the strand that it branched off. As a rule
    nothing more is `known` of what was issued. Of a stage that must not run twice it may be known
    that it has begun: `()`. Of an agent that rests it is known what it waits for.
    """

    key: StageKey
    at: int
    value: object
    stack: Frame | None
    inherited: Instant | None
    fan: Fan | None = None
    closing: Closing | None = None
    known: tuple[OpenRequest, ...] | None = None

    @property
    def path(self) -> tuple[int, ...]:
        """The name of the strand: where it branched off."""
        return self.key.strand

    @property
    def begun(self) -> bool:
        """Whether it may have run what must not run twice."""
        return self.known == ()

    @property
    def asked(self) -> tuple[OpenRequest, ...]:
        """What its agent waits for, if that rests."""
        return self.known or ()

    @property
    def deadline(self) -> Instant | None:
        """The earliest deadline that holds here."""
        return self.inherited if self.stack is None else self.stack.deadline


Branch: TypeAlias = Strand | Ended | None
"""A strand that runs, what it came to, or nothing: it has not begun, or was stopped."""


@final
@frozen(order=False)
class PipelineState:
    """A run of a pipeline; `busy` counts the commands whose answers are awaited."""

    run: str
    seed: int
    root: Strand | None
    busy: int
    end: PipelineEnd[object, object] | None = None


@final
@frozen(order=False)
class Transition:
    """What one event led to: the state, what has to be done, and what was decided."""

    state: PipelineState
    commands: tuple[Command, ...]
    notes: tuple[Note, ...]
