"""A PostgreSQL of one's own, for as long as the tests run: no other is touched."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"
_FOLDERS = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt")


class AbsentError(Exception):
    """There is no PostgreSQL on this machine; the text says what was looked for."""


@contextmanager
def postgres() -> Generator[str]:
    """Start a server on a socket of its own, and give the address of its database."""
    binaries = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: the path of a socket is bounded
    data = folder / "data"
    if os.getuid() == 0:
        shutil.chown(folder, USER)  # a server refuses to run as root
    options = f"-k {folder} -c listen_addresses= -c max_connections=60"
    try:
        _run(binaries / "initdb", "-D", data, "-A", "trust", "-U", USER, "-E", "UTF8")
        start = ("-D", data, "-o", options, "-l", folder / "log", "-w", "start")
        _run(binaries / "pg_ctl", *start)
        try:
            yield f"postgresql://{USER}@/{USER}?host={folder}"
        finally:
            _run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def require_postgres() -> None:
    """See that there is a server to start.

    Raises:
        AbsentError: there is none.
    """
    _binaries()


def _binaries() -> Path:
    """Where the newest server is: Debian keeps them apart, by version, outside of PATH."""
    found = [
        path.parent for folder in _FOLDERS for path in sorted(Path(folder).glob("**/bin/initdb"))
    ]
    on_path = shutil.which("initdb")
    if on_path is not None:
        found.append(Path(on_path).parent)
    if not found:
        raise AbsentError("initdb is neither on PATH nor below " + ", ".join(_FOLDERS))
    return found[-1]


def _run(program: Path, *arguments: str | Path) -> None:
    command = [str(program), *map(str, arguments)]
    if os.getuid() == 0:
        command = ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups", *command]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", timeout=120)
    if ran.returncode:
        raise RuntimeError(f"{program.name} failed: {ran.stderr}{ran.stdout}")
