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
    below: "Frame | None"
    at: int
    value: object
    count: int
    deadline: Instant | None

@final
@frozen(order=False)
class Ended:
    is_success: bool
    value: object

@final
@frozen(order=False)
class Closing:
    at: int
    value: object
    stack: Frame | None
    end: PipelineEnd[object, object] | None = None

@final
@frozen(order=False)
class Fan:
    branches: "Row[Branch]"
    next: int
    running: int

@final
@frozen(order=False)
class Strand:
    key: StageKey
    at: int
    value: object
    stack: Frame | None
    inherited: Instant | None
    fan: Fan | None = None
    closing: Closing | None = None
    known: tuple[OpenRequest, ...] | None = None

    @property
    def path(self) -> tuple[int, ...]: ...
    @property
    def begun(self) -> bool: ...
    @property
    def asked(self) -> tuple[OpenRequest, ...]: ...
    @property
    def deadline(self) -> Instant | None: ...

Branch: TypeAlias = Strand | Ended | None

@final
@frozen(order=False)
class PipelineState:
    run: str
    seed: int
    root: Strand | None
    busy: int
    end: PipelineEnd[object, object] | None = None

@final
@frozen(order=False)
class Transition:
    state: PipelineState
    commands: tuple[Command, ...]
    notes: tuple[Note, ...]
