"""What an engine is told about the activities and the histories of runs."""

from typing import Final, final

from attrs import field, frozen

from stepfold.values import UsageError


def _positive(_: object, attribute: object, value: float) -> None:
    if value <= 0:
        name = getattr(attribute, "name", "value")
        raise UsageError(f"EngineOptions: {name}: expected more than 0, got {value!r}")


@final
@frozen(order=False, kw_only=True)
class EngineOptions:
    """How an engine carries out the commands of a run; part of a workflow's code.

    `heartbeat_seconds` is after how long without a sign of life the worker that carries out a
    command counts as lost. `longest_seconds` bounds a command that has no deadline of its own.
    `attempts` is how often a command that may be carried out again is begun at most: an
    idempotent tool, a hook. `history_events` is after how many events of its history a run goes on
    in a new one, if the engine does not ask for that earlier. `piece_bytes` is from how much on
    a part of a run's history that changes no more is sent as a piece of its own, which a storage
    keeps once.

    With `allow_other_program`, a run goes on although the program is not the one that it was begun
    with; otherwise its workers leave it alone until one comes that has that program.

    The figures of a run at work stay as they are, as all code of a workflow does: a change of
    `history_events` breaks its replay.

    Raises:
        UsageError: a figure is not positive.
    """

    heartbeat_seconds: float = field(default=30.0, validator=_positive)
    longest_seconds: float = field(default=86_400.0, validator=_positive)
    attempts: int = field(default=10, validator=_positive)
    history_events: int = field(default=4_000, validator=_positive)
    piece_bytes: int = field(default=16_384, validator=_positive)
    allow_other_program: bool = False


DEFAULT_OPTIONS: Final = EngineOptions()
"""What holds where nothing else is said."""
