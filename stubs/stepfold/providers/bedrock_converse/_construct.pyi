from collections.abc import Callable
from typing import TypeAlias, TypeVar
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions, Dialect, Endpoint
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.bedrock_converse._options import ConverseDialect
from stepfold.providers.bedrock_converse._sigv4 import AwsCredentials

D = TypeVar("D", bound=Dialect)
ConverseModel: TypeAlias = HttpModel[ConverseDialect]
CONVERSE_CODEC: WireCodec[ConverseDialect] = ...

def bedrock(
    model_id: str,
    *,
    region: str | None = None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None = None,
    dialect: ConverseDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ConverseModel: ...
def bedrock_endpoint(
    model_id: str,
    dialect: D,
    options: ConnectionOptions,
    region: str | None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None,
) -> Endpoint[D]: ...
