from collections.abc import Sequence
from typing import Final, TypeVar, final, overload
from attrs import frozen
from temporalio.converter import StorageDriver
from temporalio.plugin import SimplePlugin
from stepfold.durable._channel import StreamChannel
from stepfold.durable.temporal._activities import Activity
from stepfold.durable.temporal._workflow import RunWorkflow

D = TypeVar("D")
Out = TypeVar("Out")
PASSED_THROUGH: Final = ("anyio", "attr", "attrs", "cattrs", "httpx", "returns", "stepfold")

@final
@frozen(eq=False)
class Served:
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
def plugin(
    *served: Served, storage: StorageDriver | None = None, passed_through: Sequence[str] = ()
) -> SimplePlugin: ...
