from typing import final
from attrs import frozen
from typing_extensions import override
from stepfold.values import StepfoldError

@final
@frozen(order=False)
class DecodeFault:
    path: str
    message: str

    @override
    def __str__(self) -> str: ...

@final
class StoredDataError(StepfoldError):
    __module__ = "stepfold.codec"

    def __init__(self, fault: DecodeFault) -> None: ...
    fault: DecodeFault

    @override
    def __reduce__(self) -> tuple[type["StoredDataError"], tuple[DecodeFault]]: ...
