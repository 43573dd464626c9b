"""Run tests in a process that imports a faulty module: `python -m tests.mutants.cold PATH NUMBER`.

The ids of the tests are read from standard input; the status is that of pytest.
"""

import os
import sys
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


def main() -> int:
    """Plant the fault before anything is imported, and run the tests to the first that fails."""
    path, number = Path(sys.argv[1]), int(sys.argv[2])
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
    os.environ["HYPOTHESIS_PROFILE"] = "mutants"
    tests = sys.stdin.read().splitlines()
    # pytest reads the sources of its plugins anew, to rewrite their assertions, and we are one
    plain = ("--assert=plain", "-x", "-q", "-p", "no:cacheprovider")
    return int(pytest.main([*plain, *tests]))


if __name__ == "__main__":
    sys.exit(main())
