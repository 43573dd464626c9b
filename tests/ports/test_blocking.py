"""Code behind a port suspends, unless it is told to block."""

from stepfold.ports._blocking import BLOCKING


def test_nothing_blocks_unless_it_is_told_to() -> None:
    """An event loop is the rule; running without one is asked for."""
    assert not BLOCKING.get()
