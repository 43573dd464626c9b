"""A pipeline as it runs, live in the terminal: a bar for each fan, a line for each other stage."""

from types import TracebackType
from typing import Final, final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from stepfold.pipeline.events import StageKey
from stepfold.pipeline.notes import (
    AgentRested,
    AgentTold,
    BranchFinished,
    FanFinished,
    FanStarted,
    InputAsked,
    Note,
    StageFinished,
    StageStarted,
)
from stepfold.shell import ModelCallStarted, ToolExecutionStarted


@final
class PipelineProgress:
    """An observer that shows how far a pipeline is, as a context manager.

    A fan has a bar that counts its branches, and tells what happened in it last; a stage outside
    of fans has a line while it runs. Both tell what agents do, and that one waits for answers.
    What is over is taken away, so that what is left on the screen is what is going on.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._progress: Final = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True) if console is None else console,
            transient=True,
        )
        self._lines: Final[dict[StageKey, TaskID]] = {}
        self._fans: Final[dict[StageKey, str]] = {}

    def __enter__(self) -> "PipelineProgress":
        """Begin to show."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Show no more."""
        self._progress.stop()

    @property
    def shown(self) -> tuple[str, ...]:
        """The lines that are shown now, from the top."""
        return tuple(
            f"{task.description} {task.completed:g}/{task.total:g}"
            if task.total is not None
            else task.description
            for task in self._progress.tasks
        )

    def __call__(self, note: Note) -> None:
        """Show what one note tells."""
        match note:
            case FanStarted(key, stage, size):
                self._begin(key, stage, size)
                self._fans[key] = stage
            case BranchFinished(key):
                if key in self._lines:
                    self._progress.advance(self._lines[key])
            case StageStarted(key, stage) if not key.strand:
                self._begin(key, stage, None)
            case StageFinished(key, stage) if key.strand:
                self._tell(_line_of(key), stage)
            case AgentTold(key, stage, seen):
                self._tell(_line_of(key), f"{stage}{_doing(seen)}")
            case AgentRested(key, stage, asked):
                answers = "an answer" if len(asked) == 1 else f"{len(asked)} answers"
                self._tell(_line_of(key), f"{stage} · waiting for {answers}")
            case InputAsked(key, name):
                self._begin(key, f"waiting for {name}", None)
            case StageFinished(key) | FanFinished(key):
                self._end(key)
            case _:
                pass

    def _begin(self, key: StageKey, text: str, total: int | None) -> None:
        self._end(key)  # an agent that rested may have a line still
        self._lines[key] = self._progress.add_task(text, total=total)

    def _tell(self, key: StageKey, text: str) -> None:
        """Tell more about a line: what it is, and what happened in it last."""
        if key in self._lines:
            fan = self._fans.get(key)
            shown = text if fan is None else f"{fan} · {text}"
            self._progress.update(self._lines[key], description=shown)

    def _end(self, key: StageKey) -> None:
        line = self._lines.pop(key, None)
        self._fans.pop(key, None)
        if line is not None:
            self._progress.remove_task(line)


def _line_of(key: StageKey) -> StageKey:
    """Where a stage is shown: at the fan that its strand is a branch of, or by itself."""
    return StageKey(key.strand[:-2], key.strand[-2]) if key.strand else key


def _doing(seen: object) -> str:
    match seen:
        case ModelCallStarted(key=key, model=model):
            return f" · step {key.step}: asking {model}"
        case ToolExecutionStarted(call=call):
            return f" · running {call.tool_name}"
        case _:
            return ""
