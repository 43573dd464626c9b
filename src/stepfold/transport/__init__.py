"""Floor 5: bytes over HTTP, for everything that reaches a server.

`send` and `open_stream` carry an `HttpRequest` to its server and give typed failures only;
`SseDecoder` and `AwsMessageDecoder` read event streams. Nothing here knows about models. httpx is
imported when the first request goes out, and never before.
"""

from stepfold.transport._aws_messages import (
    AwsMessage,
    AwsMessageDecoder,
    aws_message,
)
from stepfold.transport._client import (
    BlockingHttpBody,
    BlockingHttpClient,
    HttpBody,
    HttpClient,
    HttpTimeout,
)
from stepfold.transport._connections import (
    HttpConnections,
)
from stepfold.transport._download import (
    DownloadLimits,
    Resolve,
    download_files,
    resolve_host,
)
from stepfold.transport._exchange import (
    open_stream,
    send,
)
from stepfold.transport._messages import (
    HttpLimits,
    HttpRequest,
    HttpResponse,
    StreamedResponse,
    header_of,
)
from stepfold.transport._secrets import (
    without_secrets,
)
from stepfold.transport._sse import (
    SseDecoder,
    SseEvent,
)

__all__ = (
    "AwsMessage",
    "AwsMessageDecoder",
    "BlockingHttpBody",
    "BlockingHttpClient",
    "DownloadLimits",
    "HttpBody",
    "HttpClient",
    "HttpConnections",
    "HttpLimits",
    "HttpRequest",
    "HttpResponse",
    "HttpTimeout",
    "Resolve",
    "SseDecoder",
    "SseEvent",
    "StreamedResponse",
    "aws_message",
    "download_files",
    "header_of",
    "open_stream",
    "resolve_host",
    "send",
    "without_secrets",
)
