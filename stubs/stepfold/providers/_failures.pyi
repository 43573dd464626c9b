from stepfold.values import ModelErrorReason

def reason_of_error(
    value: object,
    *,
    status: int | None = None,
    code: str | None = None,
    secrets: tuple[str, ...] = (),
) -> ModelErrorReason: ...
