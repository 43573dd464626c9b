from typing import Never
from stepfold.shell._tool import AnyTool
from stepfold.values import JsonText, Outcome

def decoded_result(tool: AnyTool[Never, object], document: JsonText) -> Outcome[object, str]: ...
