from collections.abc import Callable, Sequence
from stepfold.ports import LanguageModel
from stepfold.providers import ClientOptions
from stepfold.testing.conformance._request_laws import HELLO
from stepfold.testing.conformance._samples import ProviderSample
from stepfold.values import ModelRequest

def check_provider(
    make: Callable[[ClientOptions], LanguageModel],
    samples: Sequence[ProviderSample],
    *,
    request: ModelRequest = HELLO,
    seed: int = 0,
) -> None: ...
