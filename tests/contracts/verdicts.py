"""Ask every type checker what it makes of the library: `python -m tests.contracts.verdicts`.

`mypy` and `pyright` over the source are runs of their own. Here are the others:

- mypy with the plugin of `returns`, since users may have it switched on;
- both checkers over the typing tests against the snapshot in `stubs/`, which must give the same
  verdicts as the source: each negative line carries the error it must raise, and an ignore that
  is not needed is an error;
- stubtest, which compares the snapshot with the package as it runs.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import frozen

from tests.contracts.source import PACKAGE, ROOT

SNAPSHOT = ROOT / "stubs"
TYPING_TESTS = ROOT / "tests" / "typing"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]

Value = str | bool | list[str]


@frozen
class Run:
    """One checker over one view of the library."""

    title: str
    command: tuple[str | Path, ...]


def runs(folder: Path) -> Iterator[Run]:
    """List the runs, writing their configurations into a folder."""
    plugin = _mypy(folder / "plugin.toml", plugins=["returns.contrib.mypy.returns_plugin"])
    yield Run(
        "mypy with the returns plugin", (*_module("mypy"), "--config-file", plugin, TYPING_TESTS)
    )

    # Stub files have no comments, hence none of the ignores that the source explains: what they
    # say is judged by the tests, and what is wrong in itself by the runs over the source.
    against_snapshot = _mypy(
        folder / "snapshot.toml", mypy_path=str(SNAPSHOT), follow_imports="silent"
    )
    with against_snapshot.open("a", encoding="utf-8") as settings:
        settings.write('[[tool.mypy.overrides]]\nmodule = "stepfold.*"\nignore_errors = true\n')
    yield Run(
        "mypy against the snapshot",
        (*_module("mypy"), "--config-file", against_snapshot, TYPING_TESTS),
    )

    stubtest = folder / "stubtest.toml"
    disabled = ["assignment", "overload-overlap"]
    stubtest.write_text(
        f'[tool.mypy]\nmypy_path = "{SNAPSHOT}"\ndisable_error_code = {json.dumps(disabled)}\n'
    )
    unknown = folder / "unknown.txt"
    unknown.write_text("\n".join(_unknown_to_stubtest()))
    options = ("--ignore-missing-stub", "--mypy-config-file", stubtest)
    allowed = ("--allowlist", SNAPSHOT / "allowlist.txt", "--allowlist", unknown)
    yield Run("stubtest", (*_module("mypy.stubtest"), PACKAGE, *options, *allowed))

    pyright = folder / "pyrightconfig.json"
    views = {
        "include": [os.path.relpath(TYPING_TESTS, folder)],  # it skips absolute paths silently
        "extraPaths": [str(SNAPSHOT)],
        "venvPath": str(ROOT),
    }
    pyright.write_text(json.dumps(SETTINGS["pyright"] | views))
    yield Run("pyright against the snapshot", (*_module("pyright"), "--project", pyright))


def _unknown_to_stubtest() -> Iterator[str]:
    """Name what stubtest cannot compare: aliases of several literals, and type variable tuples."""
    for path in sorted(SNAPSHOT.rglob("*.pyi")):
        parts = path.relative_to(SNAPSHOT).with_suffix("").parts
        module = ".".join(part for part in parts if part != "__init__")
        for statement in ast.parse(path.read_text("utf-8")).body:
            match statement:
                case (
                    ast.AnnAssign(
                        target=ast.Name(id=name),
                        value=ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple()),
                    )
                    | ast.Assign(
                        targets=[ast.Name(id=name)],
                        value=ast.Call(func=ast.Name(id="TypeVarTuple")),
                    )
                ):
                    yield re.escape(f"{module}.{name}")
                case _:
                    pass


def _module(name: str) -> tuple[str, str, str]:
    return (sys.executable, "-m", name)


def _mypy(path: Path, **changes: Value) -> Path:
    """Write our mypy settings with some changed; mypy itself knows no inheritance."""
    settings = SETTINGS["mypy"] | changes | {"cache_dir": f"{ROOT}/.mypy_cache/{path.stem}"}
    overrides = settings.pop("overrides")
    tables = ["[tool.mypy]", *_toml(settings)]
    for override in overrides:
        tables += ["[[tool.mypy.overrides]]", *_toml(override)]
    path.write_text("\n".join(tables) + "\n")
    return path


def _toml(table: Mapping[str, Value]) -> Iterator[str]:
    # Strings, booleans and lists of strings are written alike in JSON and TOML.
    for key, value in table.items():
        yield f"{key} = {json.dumps(value)}"


def _ask(run: Run) -> tuple[Run, subprocess.CompletedProcess[str]]:
    return run, subprocess.run(run.command, cwd=ROOT, capture_output=True, text=True, check=False)


def main() -> int:
    """Run all, two at a time, and print what each says."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for run, ran in pool.map(_ask, list(runs(Path(folder)))):
            print(f"{run.title}: {'failed' if ran.returncode else 'ok'}")
            if ran.returncode:
                failed += 1
                print(ran.stdout, ran.stderr, sep="")
    return failed


if __name__ == "__main__":
    sys.exit(main())
