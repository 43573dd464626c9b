"""Servers that others wrote, on this machine. One that does not start fails its tests."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from socket import create_server
from typing import final

import httpx
import pytest

_PATIENCE = 60.0


@final
class FaultyProvider:
    """`llmock`: a provider that breaks on demand, and grades its client."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = httpx.Client(base_url=url, trust_env=False)

    def is_up(self) -> bool:
        try:
            return self._client.get("/health").is_success
        except httpx.TransportError:
            return False

    def reset(self) -> None:
        self._client.post("/_llmock/reset").raise_for_status()

    def behave(self, behavior: str, /, **how: object) -> None:
        """Answer the next request as told."""
        scenario = {"behaviors": [{"type": behavior, **how}]}
        self._client.post("/_llmock/scenario", json=scenario).raise_for_status()

    def verdict(self) -> dict[str, object]:
        """What it thinks of its client so far."""
        found: dict[str, object] = self._client.get("/_llmock/verdict").json()
        return found

    def close(self) -> None:
        self._client.close()


def _free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def running_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyProvider]:
    port = _free_port()
    log = tmp_path_factory.mktemp("llmock") / "log"
    command = [str(Path(sys.executable).with_name("llmock")), "serve", "--host", "127.0.0.1"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--log-level", "warning"],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    provider = FaultyProvider(f"http://127.0.0.1:{port}")
    try:
        deadline = time.monotonic() + _PATIENCE
        while not provider.is_up():
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"llmock did not start: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield provider
    finally:
        provider.close()
        process.terminate()
        process.wait(10)


@pytest.fixture
def faulty_provider(running_provider: FaultyProvider) -> FaultyProvider:
    """The provider without faults and with a clean sheet."""
    running_provider.reset()
    return running_provider
