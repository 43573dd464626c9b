"""What the model calls of one run share, kept from the first that asks until the run rests."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast, final

import anyio
from anyio.lowlevel import current_token

from stepfold.ports import BLOCKING, KEEPER, Keeper, Kept

K = TypeVar("K", bound=Kept)

_SHIELD_SECONDS = 5.0


@final
class RunKeeper:
    """The `Keeper` of one run, at home in the event loop in which its model is first asked."""

    __slots__ = ("_home", "_kept")

    def __init__(self) -> None:
        self._home: object = None
        self._kept: dict[object, Kept] | None = None

    def keep(self, key: object, make: Callable[[], K], /) -> K | None:
        """Give what is kept under a key, made by the first who asks for it."""
        kept = self._kept
        if kept is None or self._home != _here():
            return None
        if key not in kept:
            kept[key] = make()
        return cast("K", kept[key])  # one key, one way to make

    def offer(self) -> Keeper | None:
        """Offer to keep things while a model is asked; gives what to set `KEEPER` to afterwards.

        Not a token to reset it by: that would be refused where another context ends a coroutine.
        """
        if self._kept is None:
            self._home = _here()
            self._kept = {}
        before = KEEPER.get()
        KEEPER.set(self)
        return before

    async def aclose(self) -> None:
        """Close all that is kept, whoever cancels this; how it takes that is no news."""
        kept, self._kept = self._kept, None
        if not kept:
            return
        if BLOCKING.get():
            for one in kept.values():
                with suppress(Exception):  # the run is over; how a connection closes is no news
                    await one.aclose()
            return
        with anyio.move_on_after(_SHIELD_SECONDS, shield=True):
            for one in kept.values():
                with suppress(Exception):  # as above
                    await one.aclose()


def _here() -> object:
    """The event loop that is running, or that there is none."""
    return "no event loop" if BLOCKING.get() else current_token()
