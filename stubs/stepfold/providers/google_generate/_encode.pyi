from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers.google_generate._options import GoogleDialect
from stepfold.values import ModelRequest

def encode_request(
    request: ModelRequest, endpoint: Endpoint[GoogleDialect], *, stream: bool = False
) -> WireCall: ...
