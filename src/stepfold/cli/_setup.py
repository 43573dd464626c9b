"""What the options of `run` and `chat` say, in one value."""

from typing import final

from attrs import frozen


@final
@frozen(order=False, kw_only=True)
class Setup:
    """The agent that a command shall use, by names."""

    model: str = "local/smollm2"
    tools: tuple[str, ...] = ()
    instructions: str = ""
    max_steps: int = 20
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
