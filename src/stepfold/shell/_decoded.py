"""What a tool gave, read back by the type that it returns."""

import json
from typing import Never

from stepfold.schema import bind
from stepfold.shell._tool import AnyTool
from stepfold.values import Failure, JsonText, Outcome, Success


def decoded_result(tool: AnyTool[Never, object], document: JsonText) -> Outcome[object, str]:
    """Build what a tool returned from its JSON, or say what does not fit."""
    form = tool.parameters.returns
    value: object = json.loads(document.text)
    if form is None:
        return Success(value)
    match bind(form, value):
        case Success(built):
            return Success(built)
        case Failure(faults):
            fault = faults[0]
            return Failure(
                f"the stored result of {tool.name} does not fit its returned type: "
                f"{fault.pointer or '(all of it)'}: {fault.message}"
            )
