"""How a user names a model of Amazon Bedrock."""

import os
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions, Dialect, Endpoint, SignRequest
from stepfold.providers._http_caller import connections_of, endpoint_of
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.bedrock_converse._encode import encode_request
from stepfold.providers.bedrock_converse._options import ConverseDialect, converse_dialect
from stepfold.providers.bedrock_converse._reply import decode_reply
from stepfold.providers.bedrock_converse._sigv4 import AwsCredentials, AwsSigner
from stepfold.providers.bedrock_converse._stream import converse_decoder
from stepfold.values import UsageError

D = TypeVar("D", bound=Dialect)

ConverseModel: TypeAlias = HttpModel[ConverseDialect]
"""A model that speaks Amazon Bedrock's Converse."""

CONVERSE_CODEC: WireCodec[ConverseDialect] = WireCodec(
    encode_request, decode_reply, converse_decoder
)
"""Amazon Bedrock's Converse."""


def bedrock(
    model_id: str,
    *,
    region: str | None = None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None = None,
    dialect: ConverseDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ConverseModel:
    """A model of Amazon Bedrock: a model id, the id of an inference profile, or an ARN.

    Requests carry the `api_key`, or are signed by the `credentials`, which are asked for anew for
    each one where they are a function; it must not wait. What is not given comes from the
    environment: `AWS_BEARER_TOKEN_BEDROCK`, else `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and
    `AWS_SESSION_TOKEN`; the region from `AWS_REGION`, or `AWS_DEFAULT_REGION`; the address from
    `AWS_ENDPOINT_URL_BEDROCK_RUNTIME`, else it is that of the region. Files of AWS are not read.

    Raises:
        UsageError: there are no credentials or no region, or the address is not one of http or
            https.
    """
    understood = dialect or converse_dialect(model_id)
    endpoint = bedrock_endpoint(model_id, understood, options, region, credentials)
    return HttpModel(CONVERSE_CODEC, endpoint, connections_of(options))


def bedrock_endpoint(
    model_id: str,
    dialect: D,
    options: ConnectionOptions,
    region: str | None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None,
) -> Endpoint[D]:
    """A model of Amazon Bedrock, by what is given, else by the environment.

    Raises:
        UsageError: there are no credentials or no region, or the address is not one of http or
            https.
    """
    place = (region or _found("AWS_REGION") or _found("AWS_DEFAULT_REGION")).strip()
    if not place:
        raise UsageError(
            f"bedrock/{model_id} needs a region: set the environment variable AWS_REGION to one, "
            f"such as us-east-1. In Python, region=… does it too."
        )
    key = (options.get("api_key") or "").strip()
    sign: SignRequest | None = None
    if not key and credentials is None:
        key = _found("AWS_BEARER_TOKEN_BEDROCK")
    if not key:
        sign = AwsSigner(credentials or _credentials_found(model_id), place)
    domain = "amazonaws.com.cn" if place.startswith("cn-") else "amazonaws.com"
    address = options.get("base_url") or _found("AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    return endpoint_of(
        model_id,
        dialect,
        base_url=address or f"https://bedrock-runtime.{place}.{domain}",
        headers={"authorization": f"Bearer {key}" if key else None},
        options=options,
        sign=sign,
    )


def _found(variable: str) -> str:
    return (os.environ.get(variable) or "").strip()


def _credentials_found(model_id: str) -> AwsCredentials:
    key_id, secret = _found("AWS_ACCESS_KEY_ID"), _found("AWS_SECRET_ACCESS_KEY")
    if not key_id or not secret:
        raise UsageError(
            f"bedrock/{model_id} needs credentials: set the environment variable "
            f"AWS_BEARER_TOKEN_BEDROCK to a key of Bedrock's, or AWS_ACCESS_KEY_ID and "
            f"AWS_SECRET_ACCESS_KEY (with AWS_SESSION_TOKEN, if they are temporary). In Python, "
            f"api_key=… or credentials=AwsCredentials(…) does it too."
        )
    return AwsCredentials(key_id, secret, session_token=_found("AWS_SESSION_TOKEN") or None)
