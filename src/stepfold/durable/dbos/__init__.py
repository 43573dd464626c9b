"""Runs as workflows of DBOS: the workflow is the loop, and its commands are steps.

Needs the extra `dbos`; asyncio only, as the engine itself. A `DbosAgent` is made before
`DBOS.launch()`; it starts runs, in queues too, and gives a `RunHandle` for each.
"""

from stepfold.durable._channel import ShownPart, StreamedPart
from stepfold.durable.dbos._agent import DbosAgent, RunHandle

__all__ = ("DbosAgent", "RunHandle", "ShownPart", "StreamedPart")
