from typing import Final
from stepfold.values import ModelRequest, UserMessage

_HELLO: Final = UserMessage("Say hello.")
HELLO: Final = ModelRequest(messages=(_HELLO,))
