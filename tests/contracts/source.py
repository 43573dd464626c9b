"""The source as it is written: modules, the names they bind, and where an import leads.

Nothing is imported here. The contracts and the snapshot of the API both read this model.
"""

import ast
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import field, frozen

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PACKAGE = "stepfold"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@frozen
class Target:
    """What a local name stands for: a name of a module, or the module itself (`name` None)."""

    module: str
    name: str | None


@frozen
class Module:
    """One file: its top-level statements, guards for type checkers already opened."""

    name: str
    path: Path
    tree: ast.Module = field(repr=False)

    @property
    def is_package(self) -> bool:
        """Whether this is the `__init__` of a package."""
        return self.path.name == "__init__.py"

    @property
    def is_public(self) -> bool:
        """Whether users may import it: no part of its name begins with an underscore."""
        return not any(part.startswith("_") for part in self.name.split("."))

    @functools.cached_property
    def statements(self) -> tuple[ast.stmt, ...]:
        """The top-level statements as a type checker sees them."""
        return tuple(_opened(self.tree.body))

    @functools.cached_property
    def definitions(self) -> Mapping[str, tuple[ast.stmt, ...]]:
        """The statements that define each name here; more than one for overloads."""
        found: dict[str, tuple[ast.stmt, ...]] = {}
        for statement in self.statements:
            for name in defined_names(statement):
                found[name] = (*found.get(name, ()), statement)
        return found

    @functools.cached_property
    def imports(self) -> Mapping[str, Target]:
        """What each imported local name stands for."""
        found: dict[str, Target] = {}
        for statement in self.statements:
            found.update(self.import_targets(statement))
        return found

    @functools.cached_property
    def exported(self) -> tuple[str, ...] | None:
        """The literal `__all__`, or None where there is none."""
        for statement in self.definitions.get("__all__", ()):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                return tuple(ast.literal_eval(statement.value))
        return None

    @property
    def public_names(self) -> tuple[str, ...]:
        """What users may use: `__all__`, else all that is defined without an underscore."""
        if self.exported is not None:
            return self.exported
        return tuple(name for name in self.definitions if not name.startswith("_"))

    def import_targets(self, statement: ast.AST) -> Mapping[str, Target]:
        """What the names that an import statement binds stand for."""
        match statement:
            case ast.Import(names=names):
                return {
                    alias.asname or alias.name.split(".")[0]: Target(
                        alias.name if alias.asname else alias.name.split(".")[0], None
                    )
                    for alias in names
                }
            case ast.ImportFrom(names=names):
                origin = self.origin(statement)
                return {alias.asname or alias.name: _target(origin, alias.name) for alias in names}
            case _:
                return {}

    def origin(self, statement: ast.ImportFrom) -> str:
        """The absolute name of the module that a from-import reads."""
        if not statement.level:
            return statement.module or ""
        package = self.name if self.is_package else self.name.rpartition(".")[0]
        for _ in range(statement.level - 1):
            package = package.rpartition(".")[0]
        return f"{package}.{statement.module}" if statement.module else package


def _target(origin: str, name: str) -> Target:
    path = SOURCE.joinpath(*origin.split("."), name)
    is_module = path.with_suffix(".py").exists() or (path / "__init__.py").exists()
    return Target(f"{origin}.{name}", None) if is_module else Target(origin, name)


def _opened(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from _opened(statement.body)
            case ast.Try():
                yield from _opened(statement.body)
            case _:
                yield statement


def defined_names(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement defines, imports aside."""
    match statement:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return (statement.name,)
        case ast.Assign(targets=targets):
            return tuple(
                node.id for it in targets for node in ast.walk(it) if isinstance(node, ast.Name)
            )
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.If():
            inner = (*statement.body, *statement.orelse)
            return tuple(name for it in inner for name in defined_names(it))
        case _:
            return ()


@functools.cache
def modules() -> Mapping[str, Module]:
    """Every module of the package, by name."""
    found = {}
    for path in sorted((SOURCE / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path, ast.parse(path.read_text("utf-8"), str(path)))
    return found


def defining(module: Module, name: str) -> tuple[Module, tuple[ast.stmt, ...]] | None:
    """Follow re-exports to the statements that define a name; None if they lie elsewhere."""
    while name not in module.definitions:
        target = module.imports.get(name)
        if target is None or target.name is None or target.module not in modules():
            return None
        module, name = modules()[target.module], target.name
    return module, module.definitions[name]


def is_overload(node: ast.stmt) -> bool:
    """Whether a function is one of several signatures, not the one that runs."""
    return isinstance(node, Function) and any(
        ast.unparse(it).rpartition(".")[2] == "overload" for it in node.decorator_list
    )


def is_private(name: str) -> bool:
    """Whether a name is nobody else's business; dunder names are public."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
