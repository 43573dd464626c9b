"""The source stays in pieces that can be read, and that depend on each other one way."""

import ast
import graphlib

import pytest

from tests.contracts.source import Function, Module, modules

MOST_LINES_OF_A_MODULE = 500
MOST_LINES_OF_A_FUNCTION = 80

every_module = pytest.mark.parametrize("module", modules().values(), ids=lambda it: it.name)


def test_imports_form_no_cycle() -> None:
    # Imports in functions and for type checkers count: hiding a cycle does not break it.
    imported = {module.name: _imported(module) for module in modules().values()}

    try:
        graphlib.TopologicalSorter(imported).prepare()
    except graphlib.CycleError as error:
        pytest.fail("cycle of imports: " + " -> ".join(error.args[1]))


def _imported(module: Module) -> set[str]:
    return {
        target.module
        for node in ast.walk(module.tree)
        for target in module.import_targets(node).values()
        if target.module in modules()
    }


@every_module
def test_module_is_short(module: Module) -> None:
    lines = len(module.path.read_text("utf-8").splitlines())
    if module.is_package:
        lines -= _listed(module)

    assert lines <= MOST_LINES_OF_A_MODULE


def _listed(module: Module) -> int:
    """The lines of a façade that only name things: imports, and `__all__`."""
    return sum(
        _span(statement)
        for statement in module.statements
        if isinstance(statement, ast.Import | ast.ImportFrom)
        or statement in module.definitions.get("__all__", ())
    )


@every_module
def test_functions_are_short(module: Module) -> None:
    long = {
        node.name: length
        for node in ast.walk(module.tree)
        if isinstance(node, Function) and (length := _lines(node)) > MOST_LINES_OF_A_FUNCTION
    }

    assert long == {}


def _lines(function: Function) -> int:
    """Count from `def` to the end, the docstring aside: explaining more is never punished."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    of_docstring = _span(first) if documented else 0
    return _span(function) - of_docstring


def _span(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1
