"""Runs as workflows of Temporal: the workflow is the loop, and its commands are activities.

Needs the extra `temporal`; asyncio only, as Temporal's own library. A program module defines a
`RunWorkflow`; workers `serve` it by a `plugin`; clients `start` runs and speak to them by a
`RunHandle`.
"""

from stepfold.durable.temporal._activities import Activity
from stepfold.durable.temporal._client import RunHandle, StartOptions, handle_of, start
from stepfold.durable.temporal._options import EngineOptions
from stepfold.durable.temporal._plugin import PASSED_THROUGH, Served, plugin, serve
from stepfold.durable.temporal._storage import FileStorage
from stepfold.durable.temporal._workflow import RunWorkflow

__all__ = (
    "PASSED_THROUGH",
    "Activity",
    "EngineOptions",
    "FileStorage",
    "RunHandle",
    "RunWorkflow",
    "Served",
    "StartOptions",
    "handle_of",
    "plugin",
    "serve",
    "start",
)
