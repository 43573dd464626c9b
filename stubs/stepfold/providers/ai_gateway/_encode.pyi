from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers.ai_gateway._options import GatewayDialect
from stepfold.values import ModelRequest

def encode_request(
    request: ModelRequest, endpoint: Endpoint[GatewayDialect], *, stream: bool = False
) -> WireCall: ...
