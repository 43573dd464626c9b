from typing import final
from attrs import frozen
from stepfold.providers.openai_chat._options import ChatOptions
from stepfold.transport import HttpRequest
from stepfold.values import ModelRequest, ModelWarning

@final
@frozen(order=False)
class ChatCall:
    request: HttpRequest
    warnings: tuple[ModelWarning, ...] = ()

def encode_request(
    request: ModelRequest, options: ChatOptions, *, stream: bool = False
) -> ChatCall: ...
