"""What there is of an output while its document is coming.

A reader is fed the text of one answer. `version` grows when `value` changes, and is 0 as long as
there is none.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, final

from stepfold.agent._output_wire import ELEMENTS, FenceReader, Wire
from stepfold.schema import Form, bind
from stepfold.values import (
    Failure,
    PartialArray,
    PartialJson,
    PartialJsonReader,
    PartialObject,
    without_lone_surrogates,
)


class PartialOutput(Protocol):
    """Reads one answer."""

    @property
    def version(self) -> int:
        """Grows when `value` changes; 0 where there is none."""
        ...

    @property
    def value(self) -> PartialJson:
        """What has come of the output."""
        ...

    @property
    def elements(self) -> Sequence[object]:
        """The complete elements that are acceptable, as Python objects; it only grows."""
        ...

    def feed(self, delta: str) -> None:
        """Take in more of the answer."""
        ...


NO_ELEMENTS: tuple[object, ...] = ()


@final
class PartialText:
    """The text so far."""

    elements: Sequence[object] = NO_ELEMENTS

    def __init__(self) -> None:
        self.version = 0
        self._chunks: list[str] = []

    @property
    def value(self) -> PartialJson:
        """The text so far."""
        return "".join(self._chunks)

    def feed(self, delta: str) -> None:
        """Take in more."""
        if delta:
            self._chunks.append(delta)
            self.version += 1


@final
class PartialDocument:
    """An output as far as it has come, unchecked: it fits no schema until it is complete."""

    elements: Sequence[object] = NO_ELEMENTS

    def __init__(self, wire: Wire) -> None:
        self._reader = PartialJsonReader()
        self._member = wire.member
        self._has_begun = wire.member is None

    @property
    def version(self) -> int:
        """Grows when `value` changes; 0 where there is none."""
        return self._reader.version if self._has_begun else 0

    @property
    def value(self) -> PartialJson:
        """What has come."""
        document = self._reader.value
        if self._member is None:
            return document
        return document.get(self._member) if isinstance(document, PartialObject) else None

    def feed(self, delta: str) -> None:
        """Take in more."""
        self._reader.feed(without_lone_surrogates(delta))
        self._has_begun = self._has_begun or _begins(self._member or "", self._reader.value)


def _begins(member: str, document: PartialJson) -> bool:
    """Whether the value of a member has begun."""
    return isinstance(document, PartialObject) and member in document


@final
class PartialElements:
    """An array whose elements are complete and acceptable; the others are left out."""

    def __init__(self, element: Form) -> None:
        self._reader = PartialJsonReader()
        self._element = element
        self._has_begun = False
        self._seen = 0
        self._documents: list[object] = []
        self._objects: list[object] = []

    @property
    def version(self) -> int:
        """Grows when `value` changes; 0 where there is none."""
        return len(self._documents) + 1 if self._has_begun else 0

    @property
    def value(self) -> PartialJson:
        """The acceptable elements, as they came."""
        return PartialArray(self._documents)

    @property
    def elements(self) -> Sequence[object]:
        """The acceptable elements, as Python objects."""
        return self._objects

    def feed(self, delta: str) -> None:
        """Take in more."""
        self._reader.feed(without_lone_surrogates(delta))
        self._has_begun = self._has_begun or _begins(ELEMENTS, self._reader.value)
        complete = self._reader.items_of(ELEMENTS)
        while self._seen < len(complete):
            document = complete[self._seen]
            self._seen += 1
            bound = bind(self._element, document)
            if not isinstance(bound, Failure):
                self._documents.append(document)
                self._objects.append(bound.unwrap())


@final
class PartialChoice:
    """One of several options, as soon as what has come is the beginning of no other."""

    elements: Sequence[object] = NO_ELEMENTS

    def __init__(self, wire: Wire, options: Sequence[object]) -> None:
        self._reader = PartialJsonReader()
        self._member = wire.member or ""
        self._options = options
        self._chosen: object = None
        self.version = 0

    @property
    def value(self) -> PartialJson:
        """The option."""
        chosen = self._chosen
        return chosen if isinstance(chosen, bool | int | float | str) else None

    def feed(self, delta: str) -> None:
        """Take in more."""
        self._reader.feed(without_lone_surrogates(delta))
        document = self._reader.value
        if self.version or not isinstance(document, PartialObject) or self._member not in document:
            return
        said = document[self._member]
        if self._reader.has(self._member):
            fitting = [one for one in self._options if type(one) is type(said) and one == said]
        else:
            fitting = [
                one
                for one in self._options
                if isinstance(one, str) and isinstance(said, str) and one.startswith(said)
            ]
        if len(fitting) == 1:
            self._chosen = fitting[0]
            self.version = 1


@final
class Unfenced:
    """An answer that may stand in a fence."""

    def __init__(self, inner: PartialOutput) -> None:
        self._inner = inner
        self._fence = FenceReader()

    @property
    def version(self) -> int:
        """Grows when `value` changes; 0 where there is none."""
        return self._inner.version

    @property
    def value(self) -> PartialJson:
        """What has come."""
        return self._inner.value

    @property
    def elements(self) -> Sequence[object]:
        """The acceptable elements."""
        return self._inner.elements

    def feed(self, delta: str) -> None:
        """Take in more."""
        self._inner.feed(self._fence.feed(delta))


PartialMaker = Callable[[], PartialOutput]
