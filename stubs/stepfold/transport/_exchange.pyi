from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from stepfold.transport._connections import ONE_CLIENT_EACH, HttpConnections
from stepfold.transport._messages import HttpRequest, HttpResponse, StreamedResponse

async def send(
    request: HttpRequest, connections: HttpConnections = ONE_CLIENT_EACH
) -> HttpResponse: ...
@asynccontextmanager
def open_stream(
    request: HttpRequest, connections: HttpConnections = ONE_CLIENT_EACH
) -> AsyncGenerator[StreamedResponse]: ...
