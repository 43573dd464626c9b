"""Teach hypothesis the types of stepfold: `st.from_type(Message)` and the like.

hypothesis calls `register` when it is imported. The types are told to it once the modules that
define them are imported, if they ever are; strategies are made when one is asked for.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast, final

if TYPE_CHECKING:
    from importlib.abc import Loader

    from hypothesis.strategies import SearchStrategy

MODULES: Final = (
    "stepfold.values",
    "stepfold.loop",
    "stepfold.loop.commands",
    "stepfold.loop.events",
    "stepfold.loop.notes",
    "stepfold.testing",
)
"""Where the types are that hypothesis is told of."""


def register() -> None:
    """Tell hypothesis of what is imported already, and wait for the rest."""
    waiting: set[str] = set()
    for name in MODULES:
        module = sys.modules.get(name)
        if module is None or not hasattr(module, "__all__"):
            waiting.add(name)
        else:
            _tell(module)
    if waiting:
        sys.meta_path.insert(0, _Waiting(waiting))


def _tell(module: ModuleType) -> None:
    from hypothesis.strategies import register_type_strategy

    for name in dir(module):
        kind: object = getattr(module, name)
        if isinstance(kind, type) and hasattr(kind, "__attrs_attrs__"):
            register_type_strategy(kind, _drawn)


def _drawn(kind: object) -> "SearchStrategy[object]":
    """The strategy for a type; what has none of its own is built of its fields."""
    from stepfold.testing.strategies import strategy_for

    return strategy_for(kind)


@final
class _Waiting:
    """Is asked before a module is imported, and tells hypothesis of those that it waits for."""

    def __init__(self, names: set[str]) -> None:
        self._names: Final = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        self._names.discard(fullname)
        if not self._names:
            sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Loader", _Telling(spec.loader))
        return spec


@final
class _Telling:
    """Imports a module as its own loader does, and tells hypothesis of it."""

    def __init__(self, loader: "Loader") -> None:
        self._loader: Final = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _tell(module)
