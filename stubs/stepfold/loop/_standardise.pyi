from collections.abc import Sequence
from stepfold.values import Message

def standardise_prompt(prompt: str | Sequence[Message]) -> tuple[Message, ...]: ...
