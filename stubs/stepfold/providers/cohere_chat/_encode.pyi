from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers.cohere_chat._options import CohereDialect
from stepfold.values import ModelRequest

def encode_request(
    request: ModelRequest, endpoint: Endpoint[CohereDialect], *, stream: bool = False
) -> WireCall: ...
