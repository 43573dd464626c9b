"""How long a run, its parts and its silence may take."""

from typing import final

from attrs import field, frozen

from stepfold.loop._figures import OfTools, by_name, positive


def _tools_by_name(given: OfTools[float]) -> tuple[tuple[str, float], ...]:
    return by_name("Timeouts.tools", given, positive)


@final
@frozen(order=False, kw_only=True)
class Timeouts:
    """How long things may take, in seconds; `None` is no limit.

    `total` is for a run, from when it is begun or taken up until it rests or ends: what passes
    while a blocked run waits for a person does not count. `step` is for one step: preparing it,
    the model call with its retries and pauses, and its tools. Both end the run in
    `Stopped("timeout-total")` or `Stopped("timeout-step")`, whose evidence is `{"limit":…}`, with
    all that was finished.

    `first_chunk` is from a request to the first output of its reply, `chunk` from one output to
    the next, and to the end of the reply; what a slow reader of a stream takes does not count.
    They fail the attempt, by a `ModelErrorReason` of the kind `timeout` and the code
    `first-chunk-timeout` or `chunk-timeout`; as after any failure, `RetryPolicy` decides whether
    another is made. With one of them, the model is asked for a stream, by `generate` as well.

    `tool` is for each call of a tool, `tools` for those of single tools, given as
    `{tool: seconds}`, or by names, and kept as pairs sorted by name. A tool's own
    `timeout` goes before `tool`, and `tools` before both. A call that takes longer is answered by
    an error, which the model sees, and the run goes on.

    Raises:
        UsageError: a limit is not a finite number above zero, or there are two for one tool.
    """

    total: float | None = None
    step: float | None = None
    first_chunk: float | None = None
    chunk: float | None = None
    tool: float | None = None
    tools: tuple[tuple[str, float], ...] = field(default=(), converter=_tools_by_name)

    def __attrs_post_init__(self) -> None:
        positive("Timeouts.total", self.total)
        positive("Timeouts.step", self.step)
        positive("Timeouts.first_chunk", self.first_chunk)
        positive("Timeouts.chunk", self.chunk)
        positive("Timeouts.tool", self.tool)

    @property
    def of_chunks(self) -> bool:
        """Whether a model's silence is limited, and so its replies have to be streamed."""
        return self.first_chunk is not None or self.chunk is not None


NO_TIMEOUTS = Timeouts()
"""All the time in the world."""
