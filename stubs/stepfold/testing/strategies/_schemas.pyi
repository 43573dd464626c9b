from collections.abc import Mapping
from hypothesis.strategies import SearchStrategy
from stepfold.values import JsonText, ModelReply, ModelRequest

def schema_documents(*, schema: JsonText | Mapping[str, object]) -> SearchStrategy[object]: ...
def replies_to(
    *, request: ModelRequest, min_calls: int = 0, max_calls: int = 2
) -> SearchStrategy[ModelReply]: ...
