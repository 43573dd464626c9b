from collections.abc import Sequence
from stepfold.values import Message

def convert_to_model_prompt(messages: Sequence[Message]) -> tuple[Message, ...]: ...
