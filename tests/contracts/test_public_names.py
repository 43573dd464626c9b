"""What users can name is listed, and each name says what it is for."""

import ast
from collections.abc import Iterator

import pytest
from typing_extensions import TypeIs

from tests.contracts.source import (
    PACKAGE,
    Function,
    Module,
    defining,
    is_overload,
    modules,
)

public_modules = [module for module in modules().values() if module.is_public]
packages = [module for module in public_modules if module.is_package]


# That `__all__` is sorted is ruff's part: RUF022, which also sorts it.
@pytest.mark.parametrize("module", packages, ids=lambda it: it.name)
def test_facade_lists_what_is_public(module: Module) -> None:
    statements = module.definitions.get("__all__", ())
    assert len(statements) == 1, f"{module.path} needs one __all__"
    assert isinstance(statements[0], ast.Assign | ast.AnnAssign)
    assert isinstance(statements[0].value, ast.Tuple), f"{module.path}: __all__ is a tuple"

    ours = {
        name
        for name, target in module.imports.items()
        if target.name is not None and target.module.split(".")[0] == PACKAGE
    }
    bound = {name for name in (ours | module.definitions.keys()) if not name.startswith("_")}
    # A name of a dependency, a submodule and a dunder are public where they are listed.
    listed = set(module.exported or ())
    others = {name for name in listed if is_listed_only(module, name)}

    assert bound == listed - others


def is_listed_only(module: Module, name: str) -> bool:
    """Whether only its being listed makes a name public."""
    if name.startswith("__"):
        return name in module.definitions
    target = module.imports.get(name)
    return target is not None and (target.name is None or target.module.split(".")[0] != PACKAGE)


@pytest.mark.parametrize("module", public_modules, ids=lambda it: it.name)
def test_public_names_are_documented(module: Module) -> None:
    undocumented = list(_undocumented(module))

    assert not undocumented, "\n".join(["no docstring:", *undocumented])


def _undocumented(module: Module) -> Iterator[str]:
    if ast.get_docstring(module.tree) is None:
        yield module.name
    for name in module.public_names:
        found = None if name.startswith("__") else defining(module, name)
        if found is not None:
            home, statements = found
            yield from _undocumented_definition(home, name, statements)


def _undocumented_definition(
    home: Module, name: str, statements: tuple[ast.stmt, ...]
) -> Iterator[str]:
    where = f"{home.path}:{statements[0].lineno} {name}"
    match statements[-1]:
        case ast.ClassDef() as node:
            if ast.get_docstring(node) is None:
                yield where
            for method in node.body:
                if _needs_docstring(method) and ast.get_docstring(method) is None:
                    yield f"{home.path}:{method.lineno} {name}.{method.name}"
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            # One docstring speaks for all overloads.
            functions = [it for it in statements if isinstance(it, Function)]
            if all(ast.get_docstring(it) is None for it in functions):
                yield where
        case ast.If():
            pass
        case statement:
            if not _is_explained(home, statement):
                yield where


def _needs_docstring(node: ast.stmt) -> TypeIs[Function]:
    return (
        isinstance(node, Function)
        and not node.name.startswith("_")
        and not is_overload(node)
        and not any(
            ast.unparse(it).rpartition(".")[2] in {"override", "setter", "deleter"}
            for it in node.decorator_list
        )
    )


def _is_explained(home: Module, statement: ast.stmt) -> bool:
    """Whether a string follows the constant or alias, as documentation tools read it."""
    body = home.statements
    following = body[body.index(statement) + 1 :][:1]
    return bool(following) and (
        isinstance(following[0], ast.Expr)
        and isinstance(following[0].value, ast.Constant)
        and isinstance(following[0].value.value, str)
    )
