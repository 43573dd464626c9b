"""Middleware that keeps replies, so that a model is not asked the same thing twice."""

import hashlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable
from typing import Final, Protocol, final

from attrs import evolve, frozen

from stepfold.codec import decode, encode
from stepfold.loop import parts_of
from stepfold.ports import Middleware, model_name, streamed
from stepfold.shell._middleware_layers import Layer, ReplyWatch
from stepfold.values import (
    Finish,
    ModelReply,
    ModelRequest,
    StreamPart,
    Success,
    UsageError,
)


class ReplyStore(Protocol):
    """Where `caching` keeps replies: any store of bytes under names.

    What it raises comes out of the model call. Where there is no event loop (`drive_sync`), its
    methods must not suspend.
    """

    def get(self, key: str, /) -> Awaitable[bytes | None]:
        """Give what was put under the key, or `None`."""
        ...

    def put(self, key: str, value: bytes, /) -> Awaitable[None]:
        """Keep the bytes under the key, in place of what was there."""
        ...


@final
class MemoryReplyStore:
    """Keeps replies in this process; the one that was not used for longest goes first.

    Raises:
        UsageError: `max_replies` is less than one.
    """

    def __init__(self, max_replies: int = 1_000) -> None:
        if max_replies < 1:
            raise UsageError(f"max_replies: expected at least 1, got {max_replies!r}")
        self._max_replies: Final = max_replies
        self._replies: OrderedDict[str, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._replies)

    async def get(self, key: str, /) -> bytes | None:
        """Give what was put under the key, or `None`."""
        value = self._replies.get(key)
        if value is not None:
            self._replies.move_to_end(key)
        return value

    async def put(self, key: str, value: bytes, /) -> None:
        """Keep the bytes under the key, in place of what was there."""
        self._replies[key] = value
        self._replies.move_to_end(key)
        if len(self._replies) > self._max_replies:
            self._replies.popitem(last=False)


def caching(store: ReplyStore, /) -> Middleware:
    """Answer from a store what was answered before, usage and response included.

    The key is the SHA-256 of the model's name and of the request in its canonical form, headers
    included, without the request's own `key`. Put it inside of what changes requests to keep what
    was really asked, and outside to save that as well. A reply is kept when it is complete; an
    error, a cut reply and a stream that was left early are not. A kept reply is streamed with each
    block in one piece. What is kept and cannot be read (any more) counts as not there.
    """
    return lambda model: _CachedModel(model, store)


@final
@frozen(eq=False)
class _CachedModel(Layer):
    """The model that `caching` makes of another."""

    store: ReplyStore

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        key = self._key(request)
        kept = await self._kept(key)
        if kept is not None:
            return kept
        reply = await self.inner.generate(request)
        await self._keep(key, reply)
        return reply

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        key = self._key(request)
        kept = await self._kept(key)
        if kept is not None:
            for part in parts_of(kept):
                yield part
            return
        watch = ReplyWatch()
        last: list[StreamPart] = []  # the finish, until it is known that nothing comes after it
        async with self.inner.stream(request) as parts:
            async for part in parts:
                watch.see(part)
                if last or isinstance(part, Finish):
                    last.append(part)
                else:
                    yield part
        reply = watch.seen()
        if isinstance(reply, ModelReply):
            await self._keep(key, reply)
        for part in last:
            yield part

    def _key(self, request: ModelRequest) -> str:
        name = _framed(model_name(self.inner))
        return hashlib.sha256(name + encode(evolve(request, key=""))).hexdigest()

    async def _kept(self, key: str) -> ModelReply | None:
        data = await self.store.get(key)
        if data is None:
            return None
        read = decode(data, ModelReply)
        return read.unwrap() if isinstance(read, Success) else None

    async def _keep(self, key: str, reply: ModelReply) -> None:
        if reply.finish_reason.unified not in {"error", "interrupted"}:
            await self.store.put(key, encode(reply))


def _framed(name: str) -> bytes:
    """Give a name as bytes that end where it ends."""
    octets = name.encode(errors="surrogatepass")
    return b"%d:%b" % (len(octets), octets)
