"""Write the public API as stub files: `python -m tests.contracts.snapshot [--check]`.

Kept is what a user can name and what that mentions, as it is written: decorators, overloads,
`self:` types, defaults. Bodies, docstrings, implementations of overloads and all that no public
name leads to are left out, so that a diff of the snapshot is a change of the API. (stubgen would
lose `@final`, `self:` types and private constructor fields.)
"""

import argparse
import ast
import copy
import difflib
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.contracts.source import (
    PACKAGE,
    ROOT,
    Function,
    Module,
    defined_names,
    is_overload,
    is_private,
    modules,
)

SNAPSHOT = ROOT / "stubs"


# --- what is kept of a statement --------------------------------------------------------------


def _stripped(statement: ast.stmt) -> ast.stmt:
    """Copy a statement without what only matters when it runs."""
    bare = _called_without_await(copy.deepcopy(statement))
    match bare:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            bare.body = [_ellipsis()]
        case ast.ClassDef():
            bare.body = list(_members(bare)) or [_ellipsis()]
        case ast.If():
            bare.body = [_stripped(it) for it in bare.body]
            bare.orelse = [_stripped(it) for it in bare.orelse]
        case ast.AnnAssign(target=ast.Name("__all__")):
            pass  # what a façade offers is the API
        case ast.AnnAssign(annotation=annotation, value=ast.expr()):
            if ast.unparse(annotation).rpartition(".")[2] not in {"TypeAlias", "Final"}:
                bare.value = ast.Constant(...)
        case _:
            pass
    return bare


def _called_without_await(statement: ast.stmt) -> ast.stmt:
    """Turn the `async def` of a generator into `def`: only its body tells it from a coroutine."""
    if isinstance(statement, ast.AsyncFunctionDef) and _yields(statement.body):
        return ast.FunctionDef(**dict(ast.iter_fields(statement)))
    return statement


def _yields(nodes: Iterable[ast.AST]) -> bool:
    return any(
        isinstance(node, ast.Yield) or _yields(ast.iter_child_nodes(node))
        for node in nodes
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda)
    )


def _members(node: ast.ClassDef) -> Iterator[ast.stmt]:
    names = {name for it in node.body for name in defined_names(it)}
    for statement, bare in zip(node.body, _without_implementations(node.body), strict=True):
        match bare:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if not is_private(bare.name):
                    yield _stripped(bare)
            case ast.ClassDef() | ast.If():
                yield _stripped(bare)
            case ast.AnnAssign(value=ast.Call(keywords=keywords)):
                assert isinstance(bare.value, ast.Call)
                bare.value.keywords = [it for it in keywords if it.arg not in _UNTYPED_OPTIONS]
                yield bare
            case ast.AnnAssign():
                yield bare
            case ast.Assign():
                bound = defined_names(bare)
                if "__slots__" not in bound and not any(is_private(name) for name in bound):
                    yield bare
            case _:
                pass
        if isinstance(statement, Function) and statement.name == "__init__":
            yield from _instance_attributes(statement, names)


# Options of attrs fields that no type checker looks at.
_UNTYPED_OPTIONS = {"eq", "hash", "metadata", "on_setattr", "order", "repr", "validator"}


def _instance_attributes(init: Function, declared: set[str]) -> Iterator[ast.stmt]:
    for node in ast.walk(init):
        match node:
            case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                if not is_private(name) and name not in declared:
                    yield ast.AnnAssign(
                        target=ast.Name(name), annotation=node.annotation, value=None, simple=1
                    )
            case _:
                pass


def _without_implementations(body: Iterable[ast.stmt]) -> Iterator[ast.stmt | None]:
    overloaded: set[str] = set()
    for statement in body:
        if isinstance(statement, Function):
            if is_overload(statement):
                overloaded.add(statement.name)
            elif statement.name in overloaded:
                yield None
                continue
        yield statement


def _ellipsis() -> ast.stmt:
    return ast.Expr(ast.Constant(...))


# --- what a public name leads to --------------------------------------------------------------


class _Reached:
    """The names that users can reach, found from the public ones."""

    def __init__(self) -> None:
        self.kept: dict[str, set[str]] = {}
        self.passed_on: dict[str, set[str]] = {}
        for module in modules().values():
            if module.is_public:
                self.kept.setdefault(module.name, set())
                for name in module.public_names:
                    self._reach(module, name, outside=True)

    def _reach(self, module: Module, name: str, *, outside: bool) -> None:
        if outside and name in module.imports:
            self.passed_on.setdefault(module.name, set()).add(name)
        kept = self.kept.setdefault(module.name, set())
        if name in kept:
            return
        if name in module.definitions:
            kept.add(name)
            for statement in stub_statements(module, name):
                for mentioned in _mentions(statement):
                    self._reach(module, mentioned, outside=False)
        elif name in module.imports:
            kept.add(name)
            target = module.imports[name]
            origin = modules().get(target.module)
            if origin is not None:
                names = origin.public_names if target.name is None else (target.name,)
                for it in names:
                    self._reach(origin, it, outside=True)


def stub_statements(module: Module, name: str) -> Iterator[ast.stmt]:
    """The stripped statements that define a name."""
    for statement in _without_implementations(module.definitions[name]):
        if statement is not None:
            yield _stripped(statement)


def _mentions(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name):
                yield name
            case ast.Constant(value=str() as text) if text.strip():
                try:
                    quoted = ast.parse(text.strip(), mode="eval")
                except (SyntaxError, ValueError):
                    continue
                yield from (it.id for it in ast.walk(quoted) if isinstance(it, ast.Name))
            case _:
                pass


# --- writing ----------------------------------------------------------------------------------


def stub(module: Module, kept: set[str], passed_on: set[str]) -> str:
    """Write one module: its kept imports and definitions, in their order."""
    exported = set(module.exported or ()) if module.is_public else set()
    body: list[ast.stmt] = []
    for statement in _without_implementations(module.statements):
        match statement:
            case ast.ImportFrom(module="__future__") | None:
                pass
            case ast.Import() | ast.ImportFrom():
                aliases = [
                    _alias(alias, passes_on=bound in passed_on and bound not in exported)
                    for alias in statement.names
                    if (bound := alias.asname or alias.name.split(".")[0]) in kept
                ]
                if aliases:
                    body.append(_importing(statement, aliases))
            case _:
                names = set(defined_names(statement))
                if names & kept or (module.is_public and "__all__" in names):
                    body.append(_stripped(statement))
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, []))) + "\n"


def _alias(alias: ast.alias, *, passes_on: bool) -> ast.alias:
    return ast.alias(alias.name, alias.name if passes_on and not alias.asname else alias.asname)


def _importing(statement: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> ast.stmt:
    if isinstance(statement, ast.Import):
        return ast.Import(names)
    return ast.ImportFrom(statement.module, names, statement.level)


def stubs() -> Mapping[str, str]:
    """The whole snapshot: paths below `stubs/` and their formatted texts."""
    reached = _Reached()
    with tempfile.TemporaryDirectory() as folder:
        for name, kept in reached.kept.items():
            module = modules()[name]
            path = Path(folder) / module.path.relative_to(ROOT / "src").with_suffix(".pyi")
            path.parent.mkdir(parents=True, exist_ok=True)
            text = stub(module, kept, reached.passed_on.get(name, set()))
            path.write_text(text, "utf-8")
        formatter = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache"]
        configuration = ROOT / "pyproject.toml"
        subprocess.run([*formatter, f"--config={configuration}", folder], check=True)
        return _read(Path(folder))


def _read(folder: Path) -> Mapping[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted((folder / PACKAGE).rglob("*.pyi"))
    }


def _write(new: Mapping[str, str]) -> None:
    for gone in _read(SNAPSHOT).keys() - new.keys():
        (SNAPSHOT / gone).unlink()
    for name, text in new.items():
        path = SNAPSHOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _difference(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        before, after = (side.get(name, "").splitlines() for side in (old, new))
        yield from difflib.unified_diff(
            before, after, f"stubs/{name} (committed)", f"stubs/{name} (source)", lineterm="", n=1
        )


def main() -> int:
    """Rewrite the snapshot, or with `--check` print how the source differs from it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args().check:
        _write(stubs())
        return 0
    difference = list(_difference(_read(SNAPSHOT), stubs()))
    if difference:
        print(*difference, sep="\n")
        print("\nThe public API has changed. If that is meant, run `make stubs` and commit stubs/.")
    return bool(difference)


if __name__ == "__main__":
    sys.exit(main())
