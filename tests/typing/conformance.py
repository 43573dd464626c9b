"""Checks of what users add: what is given has to fit what is checked, in a list or drawn."""

from typing import assert_type

from hypothesis import strategies as st

import stepfold as sf
from stepfold.testing.conformance import (
    TOOL_LAWS,
    LawStatus,
    LawVerdict,
    StatedLaw,
    check_stage,
    check_tool,
    verdicts_of,
)


@sf.stage
def counted(words: list[str]) -> int:
    return len(words)


@sf.tool
async def weather(context: sf.ToolContext[str], city: str) -> str:
    """Ask for the weather."""
    return city


check_stage(counted)
check_stage(counted, execute=True, examples=9)
check_stage(counted, given=[["a"], []])
check_stage(counted, given=st.lists(st.text()))

check_stage(counted, given=[3])  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
check_stage(counted, given=st.integers())  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
check_stage(weather)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

check_tool(weather, arguments=[{"city": "Oslo"}], deps="", execute=True)
check_tool(weather, arguments=st.fixed_dictionaries({"city": st.text()}))

check_tool(weather, arguments=["Oslo"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
check_tool(counted)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# --- verdicts ---------------------------------------------------------------------------------

verdicts = verdicts_of(lambda: check_tool(weather), on_progress=print)
assert_type(verdicts, tuple[LawVerdict, ...])
assert_type(verdicts[0].law, StatedLaw)
status: LawStatus = verdicts[0].status
stated: tuple[StatedLaw, ...] = TOOL_LAWS

verdicts_of(status)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
