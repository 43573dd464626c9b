"""Keys from arguments or the environment, and what to say when there is none.

A text that somebody at a command line may read has its way through the environment first. What
needs Python is a sentence of its own at the end, which begins with `In Python,`: the command
leaves that one out.
"""

import os

from stepfold.values import UsageError


def key_of(given: str | None, *, model: str, variable: str, made_at: str) -> str:
    """The key that was given, else that of the environment, without white space around it.

    Raises:
        UsageError: if there is none; the text names the variable.
    """
    key = (given or os.environ.get(variable) or "").strip()
    if not key:
        raise UsageError(
            f"{model} needs a key: set the environment variable {variable} (keys are made at "
            f"{made_at}). In Python, api_key=… does it too."
        )
    return key
