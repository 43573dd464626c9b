"""Models behind Amazon Bedrock, over Converse.

The codec is pure: `encode_request` makes an `HttpRequest` of a `ModelRequest`, `decode_reply`
and `converse_decoder` make replies and stream parts of bytes; `signed` signs a request, at an
instant that it is given. `HttpModel` puts a transport between them.
"""

from stepfold.providers.bedrock_converse._construct import (
    CONVERSE_CODEC,
    ConverseModel,
    bedrock,
    bedrock_endpoint,
)
from stepfold.providers.bedrock_converse._encode import (
    encode_request,
)
from stepfold.providers.bedrock_converse._options import (
    ConverseDialect,
    converse_dialect,
)
from stepfold.providers.bedrock_converse._reply import (
    decode_reply,
)
from stepfold.providers.bedrock_converse._sigv4 import (
    AwsCredentials,
    AwsSigner,
    signed,
)
from stepfold.providers.bedrock_converse._stream import (
    converse_decoder,
)

__all__ = (
    "CONVERSE_CODEC",
    "AwsCredentials",
    "AwsSigner",
    "ConverseDialect",
    "ConverseModel",
    "bedrock",
    "bedrock_endpoint",
    "converse_decoder",
    "converse_dialect",
    "decode_reply",
    "encode_request",
    "signed",
)
