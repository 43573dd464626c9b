"""Floors 1 and 2 compute and do nothing else: no waiting, no clock, no chance, no system.

The import contracts keep whole modules away; this finds what comes in through modules whose
types are welcome there, and what needs no import.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.contracts.source import Module, modules

PURE = ("values", "schema", "loop", "codec")
BANNED_CALLS = frozenset(
    {
        "breakpoint",
        "datetime.date.today",
        "datetime.datetime.now",
        "datetime.datetime.today",
        "datetime.datetime.utcnow",
        "eval",
        "exec",
        "input",
        "open",
        "print",
        "uuid.uuid1",
        "uuid.uuid4",
    }
)

pure_modules = [
    module
    for module in modules().values()
    if any(part in PURE for part in module.name.split(".")[1:2])
]


@pytest.mark.parametrize("module", pure_modules, ids=lambda it: it.name)
def test_module_is_pure(module: Module) -> None:
    assert sorted(_impurities(module)) == []


def _impurities(module: Module) -> Iterator[str]:
    origins = {
        name: ".".join(filter(None, (target.module, target.name)))
        for node in ast.walk(module.tree)
        for name, target in module.import_targets(node).items()
    }
    for node in ast.walk(module.tree):
        match node:
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                yield f"{module.path}:{node.lineno} waits"
            case ast.Call(func=ast.Name() | ast.Attribute()):
                first, *rest = ast.unparse(node.func).split(".")
                called = ".".join((origins.get(first, first), *rest))
                if called in BANNED_CALLS:
                    yield f"{module.path}:{node.lineno} calls {called}"
            case _:
                pass


@pytest.mark.parametrize(
    "text",
    [
        "async def f() -> None: ...",
        "import datetime\nx = datetime.datetime.now()",
        "from datetime import date as d\nx = d.today()",
        "from uuid import uuid4\nx = uuid4()",
        "print()",
    ],
)
def test_impurity_is_seen(text: str) -> None:
    impure = Module("stepfold.loop._probe", modules()["stepfold"].path, ast.parse(text))

    assert list(_impurities(impure)) != []
