"""What workers and clients of the engine are given: a plugin, and what it serves."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar, cast, final, overload

from attrs import frozen
from temporalio.converter import DataConverter, ExternalStorage, StorageDriver
from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkflowRunner
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from stepfold.agent import Agent
from stepfold.durable._channel import StreamChannel
from stepfold.durable.temporal._activities import Activity, Hands
from stepfold.durable.temporal._workflow import RunWorkflow

D = TypeVar("D")
Out = TypeVar("Out")

PASSED_THROUGH: Final = ("anyio", "attr", "attrs", "cattrs", "httpx", "returns", "stepfold")
"""The modules that the sandbox takes as they are; a program's own module stays inside."""

INLINE_BYTES: Final = 16_384
"""From how many bytes on a payload is kept in a storage, where there is one."""

_NO_DEPS = object()


@final
@frozen(eq=False)
class Served:
    """A workflow, and the activities that carry out what its runs ask for. Made by `serve`."""

    workflow: type[object]
    activities: tuple[Activity, ...]


@overload
def serve(
    workflow: type[RunWorkflow[object, Out]], /, *, channel: StreamChannel | None = None
) -> Served: ...
@overload
def serve(
    workflow: type[RunWorkflow[D, Out]], /, *, deps: D, channel: StreamChannel | None = None
) -> Served: ...
def serve(
    workflow: type[RunWorkflow[D, Out]],
    /,
    *,
    deps: object = _NO_DEPS,
    channel: StreamChannel | None = None,
) -> Served:
    """Serve the runs of a workflow in this process: its agent's models and tools are here.

    Args:
        workflow: A subclass of `RunWorkflow`.
        deps: What the contexts of the agent's tools and hooks hold.
        channel: Where replies and the progress of tools are shown while they come; without one,
            models are asked for whole replies.

    Raises:
        UsageError: deps are missing or wrong, or a model's id or key is not known.
    """
    agent = workflow.agent_of()
    name = workflow.workflow_name
    if deps is _NO_DEPS:
        plain = cast("Agent[object, Out]", agent)
        hands = Hands(agent.program, plain.runtime(), channel)
        return Served(workflow, hands.activities(name))
    given = Hands(agent.program, agent.runtime(deps=cast("D", deps)), channel)
    return Served(workflow, given.activities(name))


def plugin(
    *served: Served,
    storage: StorageDriver | None = None,
    passed_through: Sequence[str] = (),
) -> SimplePlugin:
    """Make what a client, and the workers and replayers made with it, need for runs.

        client = await Client.connect("localhost:7233", plugins=[plugin(serve(Support))])
        worker = Worker(client, task_queue="support")

    The sandbox of workflows takes `stepfold` and what it is built on as they are. What is served
    is registered with each worker; who only begins runs and speaks to them serves nothing.

    Args:
        served: What `serve` gave, for each workflow.
        storage: Where payloads of 16 KiB and more are kept, so that the engine has references
            to them; without one, it refuses those of 2 MB and more. All workers and clients
            of a task queue need the same. `FileStorage`, or any other of the engine's library.
        passed_through: Further modules that the sandbox shall take as they are.
    """
    make = cast("_MakePlugin", SimplePlugin)
    return make(
        "stepfold",
        data_converter=None if storage is None else _storing(storage),
        workflows=[one.workflow for one in served],
        activities=[one for each in served for one in each.activities],
        workflow_runner=_passing_through((*PASSED_THROUGH, *passed_through)),
    )


class _MakePlugin(Protocol):
    """`SimplePlugin`, as it is used here; its own parameters are not all typed."""

    def __call__(
        self,
        name: str,
        *,
        data_converter: Callable[[DataConverter | None], DataConverter] | None,
        workflows: Sequence[type],
        activities: Sequence[Activity],
        workflow_runner: Callable[[WorkflowRunner | None], WorkflowRunner],
    ) -> SimplePlugin: ...


def _storing(storage: StorageDriver) -> Callable[[DataConverter | None], DataConverter]:
    """Let a client's converter keep in a storage what is big."""
    kept = ExternalStorage([storage], payload_size_threshold=INLINE_BYTES)

    def storing(given: DataConverter | None) -> DataConverter:
        converter = DataConverter.default if given is None else given
        return dataclasses.replace(converter, external_storage=kept)

    return storing


def _passing_through(
    modules: Sequence[str],
) -> Callable[[WorkflowRunner | None], WorkflowRunner]:
    """Let a worker's sandbox take modules as they are; a runner that has none is kept."""

    def passing(given: WorkflowRunner | None) -> WorkflowRunner:
        runner = SandboxedWorkflowRunner() if given is None else given
        if not isinstance(runner, SandboxedWorkflowRunner):
            return runner
        restrictions = runner.restrictions.with_passthrough_modules(*modules)
        return dataclasses.replace(runner, restrictions=restrictions)

    return passing
