"""Local models as language models: a server in this process, and the way to it."""

import atexit
import os
from collections.abc import AsyncGenerator, Callable
from threading import Lock
from types import TracebackType
from typing import Final, final

from anyio import to_thread
from attrs import frozen

from stepfold.ports import BLOCKING, LanguageModel, streamed
from stepfold.providers.local._engine import LocalEngine, check_installed, start_engine
from stepfold.providers.openai_chat import ChatDialect, ChatModel, openai_compatible
from stepfold.shell import emulate_tools
from stepfold.values import ModelReply, ModelRequest, StreamPart, UsageError

PROVIDER: Final = "local"

# Strings are bounded, and tools are shown by examples, since the models are very small.
_with_tools = emulate_tools(max_string_length=300, with_examples=True)


def _way_to(engine: LocalEngine, name: str) -> ChatModel:
    """The model over HTTP."""
    return openai_compatible(
        name,
        base_url=engine.base_url,
        api_key=engine.api_key,
        provider=PROVIDER,
        dialect=ChatDialect(provider=PROVIDER, reasoning_form="none", efforts=()),
    )


def _silent(_: str) -> None:
    pass


def local_model(
    name: str = "smollm2",
    *,
    threads: int | None = None,
    context: int = 4_096,
    seed: int = 0,
    on_progress: Callable[[str], object] = _silent,
) -> "LocalModel":
    """Run a language model in this process for as long as a block lasts.

        with local_model() as model:
            run = await Agent(model=model).generate("What is the capital of France?")

    `async with` loads without blocking the event loop. The model is `local/smollm2`: SmolLM2
    with 135 million parameters, good for seeing that everything works, on no key and no network.
    It uses tools by schema, and answers without chance (temperature 0) unless told otherwise.

    Args:
        name: The model; there is `smollm2`.
        threads: How many threads compute; by default one in CI, else one less than cores.
        context: The longest conversation, in tokens.
        seed: Of the chance, where a request sets a temperature but no seed.
        on_progress: Is told in a few words what is done now; loading takes half a second.

    Raises:
        UsageError: there is no such model, or engine or weights are not installed; the text
            says how to install them.
    """
    check_installed(name)
    return LocalModel(name, threads, context, seed, on_progress)


@final
class LocalModel:
    """A local model, ready to be entered by `with` or `async with`; see `local_model`."""

    def __init__(
        self,
        name: str,
        threads: int | None,
        context: int,
        seed: int,
        on_progress: Callable[[str], object],
    ) -> None:
        self._name: Final = name
        self._threads: Final = threads
        self._context: Final = context
        self._seed: Final = seed
        self._on_progress: Final = on_progress
        self._engine: LocalEngine | None = None

    def _start(self) -> LocalEngine:
        return start_engine(
            self._name, threads=self._threads, context=self._context, seed=self._seed
        )

    def _announce(self) -> None:
        if self._engine is not None:
            raise UsageError(
                f"local/{self._name} was entered twice; use the model of the first block, "
                f"or call local_model() again for a second server"
            )
        self._on_progress(f"loading {self._name}")

    def _ready(self, engine: LocalEngine) -> LanguageModel:
        self._engine = engine
        self._on_progress(f"{self._name} is ready")
        return _with_tools(_way_to(engine, self._name))

    def __enter__(self) -> LanguageModel:
        """Load the model and start its server."""
        self._announce()
        return self._ready(self._start())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the server, also when a reply is on its way."""
        self._engine = None

    async def __aenter__(self) -> LanguageModel:
        """Load the model and start its server; the event loop goes on meanwhile."""
        self._announce()
        return self._ready(await to_thread.run_sync(self._start))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the server, also when a reply is on its way."""
        self._engine = None


# --- the one of the process -------------------------------------------------------------------


def local_smollm2() -> LanguageModel:
    """The model `local/smollm2` of this process.

    Its server starts with the first request, and stops when the process ends.

    Raises:
        UsageError: engine or weights are not installed; the text says how to install them.
    """
    name = "smollm2"
    check_installed(name)
    return _with_tools(_LazyModel(name))


@final
class _LazyModel:
    """A model whose server starts when it is first asked."""

    def __init__(self, name: str) -> None:
        self._name: Final = name

    @property
    def provider(self) -> str:
        return PROVIDER

    @property
    def model_id(self) -> str:
        return self._name

    async def _started(self) -> LanguageModel:
        running = _engines.get((os.getpid(), self._name))
        if running is None and BLOCKING.get():
            running = _start_once(self._name)
        elif running is None:
            running = await to_thread.run_sync(_start_once, self._name)
        return running.way

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        model = await self._started()
        return await model.generate(request)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        model = await self._started()
        async with model.stream(request) as parts:
            async for part in parts:
                yield part


@final
@frozen(order=False, eq=False)
class _Running:
    """A server of this process and the one way to it, whose connections a run can keep."""

    engine: LocalEngine
    way: ChatModel


# By process: the threads of a server do not survive a fork.
_engines: dict[tuple[int, str], _Running] = {}
_starting = Lock()


def _start_once(name: str) -> _Running:
    with _starting:
        running = _engines.get((os.getpid(), name))
        if running is None:
            engine = start_engine(name)
            running = _Running(engine, _way_to(engine, name))
            _engines[os.getpid(), name] = running
            atexit.register(_engines.clear)
        return running
