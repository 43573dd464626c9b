from stepfold.durable._channel import ShownPart, StreamedPart
from stepfold.durable.dbos._agent import DbosAgent, RunHandle

__all__ = ("DbosAgent", "RunHandle", "ShownPart", "StreamedPart")
