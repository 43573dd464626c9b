from collections.abc import Mapping
from typing import Literal, final
from attrs import frozen

@final
@frozen(order=False, kw_only=True)
class Container:
    file_ids: tuple[str, ...] = ()
    memory_limit: Literal["1g", "4g", "16g", "64g"] | None = None
    allowed_domains: tuple[str, ...] = ()

    def on_the_wire(self, kind: str) -> Mapping[str, object]: ...

@final
@frozen(order=False, kw_only=True)
class ShellAction:
    commands: tuple[str, ...]
    timeout_ms: int | None = None
    max_output_length: int | None = None

@final
@frozen(order=False, kw_only=True)
class ExitOutcome:
    exit_code: int
    type: Literal["exit"] = "exit"

@final
@frozen(order=False, kw_only=True)
class TimeoutOutcome:
    type: Literal["timeout"] = "timeout"

@final
@frozen(order=False, kw_only=True)
class CommandOutput:
    stdout: str
    stderr: str
    outcome: ExitOutcome | TimeoutOutcome

@final
@frozen(order=False, kw_only=True)
class ShellResult:
    output: tuple[CommandOutput, ...]
    max_output_length: int | None = None

@final
@frozen(order=False, kw_only=True)
class ExecAction:
    command: tuple[str, ...]
    env: Mapping[str, str]
    timeout_ms: int | None = None
    user: str | None = None
    working_directory: str | None = None
    type: Literal["exec"] = "exec"

@final
@frozen(order=False, kw_only=True)
class PatchOperation:
    type: Literal["create_file", "update_file", "delete_file"]
    path: str
    diff: str | None = None

@final
@frozen(order=False, kw_only=True)
class PatchResult:
    status: Literal["completed", "failed"] = "completed"
    output: str | None = None

@final
@frozen(order=False, kw_only=True)
class SafetyCheck:
    id: str
    code: str | None = None
    message: str | None = None

@final
@frozen(order=False, kw_only=True)
class Screenshot:
    image_url: str
    type: Literal["computer_screenshot"] = "computer_screenshot"

@final
@frozen(order=False, kw_only=True)
class ScreenshotResult:
    output: Screenshot
    acknowledged_safety_checks: tuple[SafetyCheck, ...] = ()
