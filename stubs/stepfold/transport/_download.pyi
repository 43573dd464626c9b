from collections.abc import Callable, Iterable
from typing import TypeAlias, final
from attrs import frozen
from stepfold.ports import Download

Resolve: TypeAlias = Callable[[str, int], Iterable[str]]

@final
@frozen(order=False, kw_only=True)
class DownloadLimits:
    size: int = 67108864
    seconds: float = 60.0
    redirects: int = 5

    def __attrs_post_init__(self) -> None: ...

def resolve_host(host: str, port: int) -> Iterable[str]: ...
def download_files(
    *,
    limits: DownloadLimits | None = None,
    allowed_networks: Iterable[str] = (),
    resolve: Resolve = resolve_host,
) -> Download: ...
