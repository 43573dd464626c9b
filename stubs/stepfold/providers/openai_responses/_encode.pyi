from typing import final
from attrs import frozen
from stepfold.providers.openai_responses._options import ResponsesOptions
from stepfold.transport import HttpRequest
from stepfold.values import ModelRequest, ModelWarning

@final
@frozen(order=False)
class ResponsesCall:
    request: HttpRequest
    warnings: tuple[ModelWarning, ...] = ()

def encode_request(
    request: ModelRequest, options: ResponsesOptions, *, stream: bool = False
) -> ResponsesCall: ...
