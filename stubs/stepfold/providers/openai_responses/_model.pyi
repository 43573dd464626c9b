from types import TracebackType
from typing import Self, final
from typing_extensions import override
from stepfold.ports import ModelStream
from stepfold.providers.openai_responses._options import ResponsesOptions
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits
from stepfold.values import ModelReply, ModelRequest

@final
class OpenAIResponsesModel:
    def __init__(
        self,
        options: ResponsesOptions,
        *,
        client: HttpClient | None = None,
        blocking_client: BlockingHttpClient | None = None,
        limits: HttpLimits | None = None,
    ) -> None: ...
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    @property
    def options(self) -> ResponsesOptions: ...
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    def stream(self, request: ModelRequest, /) -> ModelStream: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    @override
    def __repr__(self) -> str: ...
