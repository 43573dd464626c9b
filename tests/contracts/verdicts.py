"""Ask every type checker what it makes of the library: `python -m tests.contracts.verdicts`.

`mypy` and `pyright` over the source are runs of their own. Here are the others:

- mypy with the plugin of `returns`, since users may have it switched on;
- both checkers over the typing tests against the snapshot in `stubs/`, which must give the same
  verdicts as the source: each negative line carries the error it must raise, and an ignore that
  is not needed is an error;
- stubtest, which compares the snapshot with the package as it runs;
- both checkers over the typing tests without their ignores: what a user reads for each mistake is
  short enough to be read. Of pyright the first two lines count, which hold the two types; the rest
  is its derivation. A line may be marked `# long: reason`, and must need it.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from attrs import frozen

from tests.contracts.source import PACKAGE, ROOT

SNAPSHOT = ROOT / "stubs"
TYPING_TESTS = ROOT / "tests" / "typing"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]

LONGEST = 400
"""Characters of a message, or of the first two lines of one of pyright."""

Value = str | bool | list[str]
Process = subprocess.CompletedProcess[str]


def _errors(ran: Process) -> str | None:
    """What a checker complains of; None if it is content."""
    return ran.stdout + ran.stderr if ran.returncode else None


@frozen
class Run:
    """One checker over one view of the library."""

    title: str
    command: tuple[str | Path, ...]
    cwd: Path = ROOT
    complaint: Callable[[Process], str | None] = _errors
    """What is wrong with what it said, if anything is."""


def runs(folder: Path) -> Iterator[Run]:
    """List the runs, writing their configurations into a folder."""
    plugin = _mypy(folder / "plugin.toml", plugins=["returns.contrib.mypy.returns_plugin"])
    with_plugin = (*_module("mypy"), "--config-file", plugin, "src", TYPING_TESTS)
    yield Run("mypy with the returns plugin", with_plugin)

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


def readable(folder: Path) -> Iterator[Run]:
    """List the runs over the typing tests without their ignores."""
    copies = folder / "tests" / "typing"
    copies.mkdir(parents=True)
    for path in TYPING_TESTS.glob("*.py"):
        (copies / path.name).write_text(IGNORE.sub("", path.read_text("utf-8")), "utf-8")
    settings = _mypy(folder / "messages.toml", mypy_path=str(ROOT / "src"))
    yield Run(
        "messages of mypy",
        (*_module("mypy"), "--config-file", settings, "--output", "json", "tests/typing"),
        cwd=folder,
        complaint=lambda ran: _unreadable("mypy", _said_by_mypy(ran.stdout)),
    )
    pyright = folder / "messages.json"
    views = {
        "include": ["tests/typing"],
        "extraPaths": [str(ROOT / "src")],
        "venvPath": str(ROOT),
    }
    pyright.write_text(json.dumps(SETTINGS["pyright"] | views))
    yield Run(
        "messages of pyright",
        (*_module("pyright"), "--project", pyright, "--outputjson"),
        cwd=folder,
        complaint=lambda ran: _unreadable("pyright", _said_by_pyright(ran.stdout)),
    )


IGNORE = re.compile(r"  # (type|pyright): ignore\[[^]]*\]")

Place = tuple[str, int]


def _said_by_mypy(output: str) -> Iterator[tuple[Place, str]]:
    for line in output.splitlines():
        said = json.loads(line)
        yield (Path(said["file"]).name, said["line"]), said["message"]


def _said_by_pyright(output: str) -> Iterator[tuple[Place, str]]:
    for said in json.loads(output)["generalDiagnostics"]:
        place = (Path(said["file"]).name, said["range"]["start"]["line"] + 1)
        yield place, "\n".join(said["message"].splitlines()[:2])


def _unreadable(checker: str, said: Iterator[tuple[Place, str]]) -> str | None:
    """Compare what was said with the marks: which lines say too much, and which say nothing."""
    lines = {
        (path.name, number): line
        for path in TYPING_TESTS.glob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
    }
    longest = dict.fromkeys(lines, "")
    for place, message in said:
        longest[place] = max(longest[place], message, key=len)
    wrong = []
    for (name, number), line in lines.items():
        message = longest[name, number]
        if f"# {'type' if checker == 'mypy' else checker}: ignore[" in line and not message:
            wrong.append(f"{name}:{number}: says nothing without its ignore")
        elif len(message) > LONGEST and f"# long: {checker}" not in line:
            wrong.append(f"{name}:{number}: {len(message)} of {LONGEST} characters: {message}")
        elif len(message) <= LONGEST and f"# long: {checker}" in line:
            wrong.append(f"{name}:{number}: is not long, with {len(message)} characters")
    return "\n".join(wrong) or None


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


def _ask(run: Run) -> tuple[Run, str | None]:
    ran = subprocess.run(run.command, cwd=run.cwd, capture_output=True, text=True, check=False)
    return run, run.complaint(ran)


def main() -> int:
    """Run all, two at a time, and print what each says."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        listed = [*runs(Path(folder)), *readable(Path(folder))]
        for run, complaint in pool.map(_ask, listed):
            print(f"{run.title}: {'ok' if complaint is None else 'failed'}")
            if complaint is not None:
                failed += 1
                print(complaint)
    return failed


if __name__ == "__main__":
    sys.exit(main())
