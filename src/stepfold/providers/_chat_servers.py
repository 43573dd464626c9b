"""Servers that speak chat completions, as data: where each is, and what it does not understand."""

import os
from typing import Final, TypeVar, final

from attrs import evolve, frozen
from typing_extensions import Unpack

from stepfold.providers._endpoint import WEB, ConnectionOptions, Dialect, Endpoint
from stepfold.providers._http_caller import connections_of, endpoint_of
from stepfold.providers._http_embedding import EmbeddingDialect
from stepfold.providers._http_model import HttpModel
from stepfold.providers._keys import key_of
from stepfold.providers.openai_chat import CHAT_CODEC, ChatDialect, ChatModel
from stepfold.values import UsageError

D = TypeVar("D", bound=Dialect)

_USUAL: Final = ChatDialect()
_NO_SCHEMA: Final = ChatDialect(has_json_schema=False)
# These refuse reasoning that is sent back, and count it with the reply.
_COMPLETION: Final = ChatDialect(
    token_limit="max_completion_tokens",  # noqa: S106 - a count of tokens
    reasoning_form="none",
)
_VECTORS: Final = EmbeddingDialect(max_values_per_call=2048)


@final
@frozen(order=False, kw_only=True)
class ChatServer:
    """A server, or a service: `name` begins the ids of its models and keys their options.

    Its key is in the variable `key_variable` of the environment; a server without one needs no
    key. `base_url` is where it is unless `base_url_variable` of the environment says otherwise;
    one that is empty has to be said. `embedding` tells how it is asked for vectors, if it makes
    any.
    """

    name: str
    summary: str
    base_url: str
    key_variable: str | None = None
    made_at: str = ""
    needs_key: bool = True
    key_header: str = "authorization"
    dialect: ChatDialect = _USUAL
    embedding: EmbeddingDialect | None = None

    @property
    def base_url_variable(self) -> str:
        """The variable of the environment that holds another address: `GROQ_BASE_URL`."""
        return f"{self.name.upper().replace('-', '_')}_BASE_URL"


CHAT_SERVERS: Final[tuple[ChatServer, ...]] = (
    ChatServer(
        name="alibaba",
        summary="Alibaba Cloud Model Studio",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_variable="DASHSCOPE_API_KEY",
        made_at="https://modelstudio.console.alibabacloud.com",
        embedding=EmbeddingDialect(max_values_per_call=10),
    ),
    ChatServer(
        name="azure",
        summary="Azure OpenAI",
        base_url="",
        key_variable="AZURE_API_KEY",
        made_at="https://portal.azure.com",
        key_header="api-key",
        dialect=_COMPLETION,
        embedding=_VECTORS,
    ),
    ChatServer(
        name="cerebras",
        summary="Cerebras",
        base_url="https://api.cerebras.ai/v1",
        key_variable="CEREBRAS_API_KEY",
        made_at="https://cloud.cerebras.ai",
        dialect=_COMPLETION,
    ),
    ChatServer(
        name="deepinfra",
        summary="DeepInfra",
        base_url="https://api.deepinfra.com/v1/openai",
        key_variable="DEEPINFRA_API_KEY",
        made_at="https://deepinfra.com/dash/api_keys",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="deepseek",
        summary="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_variable="DEEPSEEK_API_KEY",
        made_at="https://platform.deepseek.com/api_keys",
        dialect=_NO_SCHEMA,
    ),
    ChatServer(
        name="fireworks",
        summary="Fireworks AI",
        base_url="https://api.fireworks.ai/inference/v1",
        key_variable="FIREWORKS_API_KEY",
        made_at="https://app.fireworks.ai/settings/users/api-keys",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="groq",
        summary="Groq",
        base_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        made_at="https://console.groq.com/keys",
        dialect=_COMPLETION,
    ),
    ChatServer(
        name="huggingface",
        summary="Hugging Face Inference Providers",
        base_url="https://router.huggingface.co/v1",
        key_variable="HF_TOKEN",
        made_at="https://huggingface.co/settings/tokens",
    ),
    ChatServer(
        name="llama-cpp",
        summary="the server of llama.cpp",
        base_url="http://localhost:8080/v1",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="lm-studio",
        summary="LM Studio",
        base_url="http://localhost:1234/v1",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="mistral",
        summary="Mistral AI",
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        made_at="https://console.mistral.ai/api-keys",
        dialect=ChatDialect(
            sends_usage=False,  # it comes unasked
            reasoning_form="part",
            exact_call_id=9,
            seed_name="random_seed",
            must_call="any",
            document_form="document_url",
            fetched_urls=(("image/*", WEB), ("application/pdf", WEB)),
        ),
        embedding=EmbeddingDialect(max_values_per_call=32, dimensions_name="output_dimension"),
    ),
    ChatServer(
        name="moonshot",
        summary="Moonshot AI",
        base_url="https://api.moonshot.ai/v1",
        key_variable="MOONSHOT_API_KEY",
        made_at="https://platform.moonshot.ai/console/api-keys",
    ),
    ChatServer(
        name="ollama",
        summary="Ollama",
        base_url="http://localhost:11434/v1",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="openai-compatible",
        summary="any other server that speaks chat completions",
        base_url="",
        key_variable="OPENAI_COMPATIBLE_API_KEY",
        needs_key=False,
        embedding=_VECTORS,
    ),
    ChatServer(
        name="openrouter",
        summary="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        made_at="https://openrouter.ai/keys",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="perplexity",
        summary="Perplexity",
        base_url="https://api.perplexity.ai",
        key_variable="PERPLEXITY_API_KEY",
        made_at="https://www.perplexity.ai/account/api",
    ),
    ChatServer(
        name="together",
        summary="Together AI",
        base_url="https://api.together.xyz/v1",
        key_variable="TOGETHER_API_KEY",
        made_at="https://api.together.ai/settings/api-keys",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="vllm",
        summary="vLLM",
        base_url="http://localhost:8000/v1",
        embedding=_VECTORS,
    ),
    ChatServer(
        name="xai",
        summary="xAI",
        base_url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        made_at="https://console.x.ai",
        dialect=ChatDialect(efforts=("low", "medium", "high")),
    ),
    ChatServer(
        name="zai",
        summary="Z.ai",
        base_url="https://api.z.ai/api/paas/v4",
        key_variable="ZAI_API_KEY",
        made_at="https://z.ai/manage-apikey/apikey-list",
        dialect=_NO_SCHEMA,
    ),
)
"""The servers that names may begin with, sorted."""


def chat_model(
    server: str,
    model_id: str,
    *,
    dialect: ChatDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ChatModel:
    """A model of a server that `CHAT_SERVERS` knows.

    What is not given comes from the environment, by the variables that `ChatServer` names, and
    then from the table.

    Raises:
        UsageError: there is no such server, or a key or an address is missing or wrong.
    """
    entry = chat_server(server)
    understood = evolve(dialect or entry.dialect, provider=entry.name)
    endpoint = server_endpoint(entry, model_id, understood, options)
    return HttpModel(CHAT_CODEC, endpoint, connections_of(options))


def server_endpoint(
    entry: ChatServer, model_id: str, dialect: D, options: ConnectionOptions
) -> Endpoint[D]:
    """A model of a server, by what is given, else by the environment, and then by the table.

    Raises:
        UsageError: a key or an address is missing or wrong.
    """
    given = options.get("base_url") or os.environ.get(entry.base_url_variable)
    base_url = (given or entry.base_url).strip()
    if not base_url:
        raise UsageError(
            f"{entry.name}/{model_id} needs an address: set the environment variable "
            f"{entry.base_url_variable} to that of the server, such as http://localhost:8080/v1. "
            f"In Python, base_url=… does it too."
        )
    key = _key(entry, model_id, options.get("api_key"))
    scheme = "Bearer " if entry.key_header == "authorization" else ""
    return endpoint_of(
        model_id,
        dialect,
        base_url=base_url,
        headers={entry.key_header: f"{scheme}{key}" if key else None},
        options=options,
    )


def _key(entry: ChatServer, model_id: str, given: str | None) -> str:
    if entry.key_variable is None or not entry.needs_key:
        found = os.environ.get(entry.key_variable) if entry.key_variable else None
        return (given or found or "").strip()
    return key_of(
        given,
        model=f"{entry.name}/{model_id}",
        variable=entry.key_variable,
        made_at=entry.made_at,
    )


def chat_server(name: str) -> ChatServer:
    """The server of a name.

    Raises:
        UsageError: there is none.
    """
    for entry in CHAT_SERVERS:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in CHAT_SERVERS)
    raise UsageError(f"server: expected one of {known}, got {name!r}")
