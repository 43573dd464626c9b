from collections.abc import Callable
from typing import final
from attrs import field, frozen
from stepfold.transport import HttpRequest
from stepfold.values import Instant

@final
@frozen(order=False)
class AwsCredentials:
    access_key_id: str
    secret_access_key: str = field()
    session_token: str | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class AwsSigner:
    credentials: AwsCredentials | Callable[[], AwsCredentials] = field()
    region: str
    service: str = "bedrock"

    def __call__(self, request: HttpRequest, now: Instant, /) -> HttpRequest: ...

def signed(
    request: HttpRequest, credentials: AwsCredentials, *, region: str, service: str, now: Instant
) -> HttpRequest: ...
