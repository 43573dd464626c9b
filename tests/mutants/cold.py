"""Run tests in a process that imports a faulty module: `python -m tests.mutants.cold PATH NUMBER`.

Without a number there is no fault. The ids of the tests are read from standard input, as JSON; the
status is that of pytest.
"""

import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import CodeType

import pytest
from typing_extensions import override

from tests.mutants.faults import faulty


class _Chosen:
    """Runs these tests and no others of their files, in this order.

    They are not named on the command line, since pytest runs none if it finds one of them missing,
    and a fault may be what makes it another.
    """

    def __init__(self, tests: Sequence[str], *, must_be_there: bool) -> None:
        self._places = {test: place for place, test in enumerate(tests)}
        self._must_be_there = must_be_there

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        places = self._places
        items[:] = sorted(
            (item for item in items if item.nodeid in places), key=lambda it: places[it.nodeid]
        )
        missing = places.keys() - {item.nodeid for item in items}
        if missing and self._must_be_there:
            raise pytest.UsageError(f"expected a test {min(missing)!r}, found none of this id")


def main() -> int:
    """Plant the fault before anything is imported, and run the tests to the first that fails."""
    path = Path(sys.argv[1])
    if sys.argv[2:]:
        _plant(path, int(sys.argv[2]))
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    tests: list[str] = json.load(sys.stdin)
    files = sorted({test.partition("::")[0] for test in tests})
    # pytest reads the sources of its plugins anew, to rewrite their assertions, and we are one
    plain = ("--assert=plain", "-x", "-q", "-p", "no:cacheprovider")
    return int(pytest.main([*plain, *files], [_Chosen(tests, must_be_there=not sys.argv[2:])]))


def _plant(path: Path, number: int) -> None:
    module = faulty(path, path.read_text("utf-8"))
    code = module.planted(module.mutants[number])

    class Planting(SourceFileLoader):
        """Hands out the faulty code for the one module."""

        @override
        def get_code(self, fullname: str) -> CodeType | None:
            found = super().get_code(fullname)
            return code if self.path == str(path) else found

    loaders = ((ExtensionFileLoader, EXTENSION_SUFFIXES), (Planting, SOURCE_SUFFIXES))
    sys.path_hooks.insert(0, FileFinder.path_hook(*loaders))
    sys.path_importer_cache.clear()


if __name__ == "__main__":
    sys.exit(main())
