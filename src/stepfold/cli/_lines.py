"""A run as machines read it: one JSON document a line, as the codec writes them.

Each line is a document of its own, `{"v":1,"type":…}`: first the parts and notes of the stream,
in order, then, as the last one, the run. The forms of `tool-progressed` and `run`, which are none
of the codec's, are told in the reference of the command line.
"""

import sys

from stepfold.agent import Run
from stepfold.cli._screen import OutputClosed
from stepfold.codec import CURRENT_VERSION, JsonTree, encode, to_json
from stepfold.loop import Done, open_requests
from stepfold.shell import RunPart, ToolProgressed
from stepfold.values import Blocked, dump_json


def part_line(part: RunPart) -> bytes:
    """One part as a line, without its end."""
    if isinstance(part, ToolProgressed):
        shown: JsonTree = {"key": to_json(part.key), "call": to_json(part.call)}
        shown["value"] = part.value.text
        return _document("tool-progressed", shown)
    return encode(part)


def run_line(run: Run[object]) -> bytes:
    """The run as a line: how it ended, its steps, its usage and its messages."""
    phase = run.state.phase
    end = phase.end if isinstance(phase, Done) else Blocked(open_requests(run.state))
    return _document(
        "run",
        {
            "id": run.id,
            "end": to_json(end),
            "text": run.text,
            "steps": [to_json(step) for step in run.steps],
            "usage": to_json(run.usage),
            "messages": [to_json(message) for message in run.messages],
        },
    )


def write_line(line: bytes) -> None:
    """Write a line to standard output, at once.

    Raises:
        OutputClosed: nobody reads it any more.
    """
    try:
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise OutputClosed from None


def _document(kind: str, tree: JsonTree) -> bytes:
    return dump_json({"v": CURRENT_VERSION, "type": kind, **tree}).encode()
