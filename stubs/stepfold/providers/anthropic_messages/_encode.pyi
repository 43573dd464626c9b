from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers.anthropic_messages._options import MessagesDialect
from stepfold.values import ModelRequest

def encode_request(
    request: ModelRequest, endpoint: Endpoint[MessagesDialect], *, stream: bool = False
) -> WireCall: ...
