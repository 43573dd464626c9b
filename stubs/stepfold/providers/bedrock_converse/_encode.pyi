from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers.bedrock_converse._options import ConverseDialect
from stepfold.values import ModelRequest

def encode_request(
    request: ModelRequest, endpoint: Endpoint[ConverseDialect], *, stream: bool = False
) -> WireCall: ...
