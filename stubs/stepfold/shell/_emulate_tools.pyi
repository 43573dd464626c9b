from stepfold.ports import Middleware

def emulate_tools(
    *, max_string_length: int | None = 2000, with_examples: bool = False
) -> Middleware: ...
