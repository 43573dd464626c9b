from collections.abc import Sequence
from typing import final
from attrs import field, frozen
from typing_extensions import Unpack
from stepfold.ports import Embedding, EmbeddingModel
from stepfold.shell._asking import ModelCallOptions
from stepfold.values import (
    NO_RESPONSE,
    NO_USAGE,
    JsonText,
    ModelError,
    ModelWarning,
    Outcome,
    ResponseInfo,
    Usage,
)

@final
@frozen(order=False)
class Embedded:
    value: str
    embedding: Embedding
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class EmbeddedMany:
    values: tuple[str, ...]
    embeddings: tuple[Embedding, ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    responses: tuple[ResponseInfo, ...] = field(default=(), kw_only=True)
    provider_metadata: tuple[JsonText | None, ...] = field(default=(), kw_only=True)

async def try_embed_many(
    model: EmbeddingModel,
    values: Sequence[str],
    /,
    *,
    dimensions: int | None = None,
    max_parallel: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[EmbeddedMany, ModelError]: ...
async def embed_many(
    model: EmbeddingModel,
    values: Sequence[str],
    /,
    *,
    dimensions: int | None = None,
    max_parallel: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> EmbeddedMany: ...
def embed_many_sync(
    model: EmbeddingModel,
    values: Sequence[str],
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> EmbeddedMany: ...
async def try_embed(
    model: EmbeddingModel,
    value: str,
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[Embedded, ModelError]: ...
async def embed(
    model: EmbeddingModel,
    value: str,
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Embedded: ...
def embed_sync(
    model: EmbeddingModel,
    value: str,
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Embedded: ...
