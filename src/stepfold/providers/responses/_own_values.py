"""What calls of OpenAI's own tools hold, and what their results have to hold, on the wire."""

from collections.abc import Mapping
from typing import Literal, final

from attrs import frozen

from stepfold.providers._own_tools import said


@final
@frozen(order=False, kw_only=True)
class Container:
    """Where code of the model runs at OpenAI: a new container for the request.

    `file_ids` are files that it holds, `memory_limit` is in gibibytes (`4g`). Code reaches the
    network only at `allowed_domains`, if there are any.
    """

    file_ids: tuple[str, ...] = ()
    memory_limit: Literal["1g", "4g", "16g", "64g"] | None = None
    allowed_domains: tuple[str, ...] = ()

    def on_the_wire(self, kind: str) -> Mapping[str, object]:
        """The container as a JSON object of a type."""
        policy = {"type": "allowlist", "allowed_domains": self.allowed_domains}
        return said(
            type=kind,
            file_ids=self.file_ids or None,
            memory_limit=self.memory_limit,
            network_policy=policy if self.allowed_domains else None,
        )


@final
@frozen(order=False, kw_only=True)
class ShellAction:
    """What a call of `shell` asks for.

    The commands may run at the same time, each for `timeout_ms` milliseconds; of what one writes,
    `max_output_length` characters count.
    """

    commands: tuple[str, ...]
    timeout_ms: int | None = None
    max_output_length: int | None = None


@final
@frozen(order=False, kw_only=True)
class ExitOutcome:
    """A command has ended."""

    exit_code: int
    type: Literal["exit"] = "exit"


@final
@frozen(order=False, kw_only=True)
class TimeoutOutcome:
    """A command was ended since it took too long."""

    type: Literal["timeout"] = "timeout"


@final
@frozen(order=False, kw_only=True)
class CommandOutput:
    """What came of one command."""

    stdout: str
    stderr: str
    outcome: ExitOutcome | TimeoutOutcome


@final
@frozen(order=False, kw_only=True)
class ShellResult:
    """What came of the commands, in their order; the length is that of the action."""

    output: tuple[CommandOutput, ...]
    max_output_length: int | None = None


@final
@frozen(order=False, kw_only=True)
class ExecAction:
    """What a call of `local_shell` asks for: a program with its arguments.

    It may run for `timeout_ms` milliseconds.
    """

    command: tuple[str, ...]
    env: Mapping[str, str]
    timeout_ms: int | None = None
    user: str | None = None
    working_directory: str | None = None
    type: Literal["exec"] = "exec"


@final
@frozen(order=False, kw_only=True)
class PatchOperation:
    """A file to create, update or delete; `diff` is in the V4A form, and `None` to delete."""

    type: Literal["create_file", "update_file", "delete_file"]
    path: str
    diff: str | None = None


@final
@frozen(order=False, kw_only=True)
class PatchResult:
    """Whether a file was changed, and what the model is told of it."""

    status: Literal["completed", "failed"] = "completed"
    output: str | None = None


@final
@frozen(order=False, kw_only=True)
class SafetyCheck:
    """Something that a person should know before the model goes on."""

    id: str
    code: str | None = None
    message: str | None = None


@final
@frozen(order=False, kw_only=True)
class Screenshot:
    """What the screen shows, as a `data:` address or one that OpenAI can fetch."""

    image_url: str
    type: Literal["computer_screenshot"] = "computer_screenshot"


@final
@frozen(order=False, kw_only=True)
class ScreenshotResult:
    """The screen after all actions, and the checks that a person has let pass."""

    output: Screenshot
    acknowledged_safety_checks: tuple[SafetyCheck, ...] = ()
