from typing import final
from attrs import frozen
from stepfold.providers.anthropic_messages._options import MessagesOptions
from stepfold.transport import HttpRequest
from stepfold.values import ModelRequest, ModelWarning

@final
@frozen(order=False)
class MessagesCall:
    request: HttpRequest
    warnings: tuple[ModelWarning, ...] = ()

def encode_request(
    request: ModelRequest, options: MessagesOptions, *, stream: bool = False
) -> MessagesCall: ...
