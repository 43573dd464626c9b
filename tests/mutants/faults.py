"""The small faults that are planted in a module, one at a time: its mutants.

A fault changes what a function does: a comparison at its boundary, a condition to its opposite, one
constant, one argument, one alternative of a pattern, one statement. What only people read is left
as it is: docstrings, annotations, the texts of errors, `__repr__`. So is what a type checker holds
(`assert_never`), and what runs while a module is imported.

A mutant is known by the source of its function and by what is changed in it, and by nothing that
moves when other code does: neither line numbers nor the order of functions.
"""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType

from attrs import frozen

Function = ast.FunctionDef | ast.AsyncFunctionDef

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
# To turn one of these round is to negate it.
TWO_SIDED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
OPPOSITES = {"any": "all", "all": "any", "min": "max", "max": "min"}
# Calls whose arguments are for people or for type checkers.
UNTOUCHED = frozenset({"assert_never", "cast", "reveal_type", "TypeVar"})
WORD = re.compile(r"[\w.$/-]+", re.ASCII)
FOR_PEOPLE = frozenset({"__repr__", "__str__"})


@frozen
class Site:
    """A place in a tree, and what to put there."""

    parent: ast.AST
    name: str
    index: int | None
    replacement: ast.AST | None

    @property
    def original(self) -> ast.AST:
        """What stands there."""
        value = getattr(self.parent, self.name)
        found = value if self.index is None else value[self.index]
        assert isinstance(found, ast.AST)
        return found

    def plant(self) -> None:
        """Put it there; `None` takes away what was there."""
        new = self.replacement
        if new is not None:
            ast.copy_location(new, self.original)
            ast.fix_missing_locations(new)
        if self.index is None:
            setattr(self.parent, self.name, new)
        elif new is None:
            del getattr(self.parent, self.name)[self.index]
        else:
            getattr(self.parent, self.name)[self.index] = new


@frozen
class Mutant:
    """One fault in one function."""

    function: str
    """Its qualified name."""
    line: int
    change: str
    """What is put in the place of what; within the function no two are alike."""
    key: str
    """A digest of the function's source and of the change."""
    site: Site


@frozen
class Faulty:
    """A module and all of its mutants. Planting one changes the tree for good: fork first."""

    path: Path
    tree: ast.Module
    mutants: tuple[Mutant, ...]

    def planted(self, mutant: Mutant) -> CodeType:
        """The module's code with this fault in it."""
        mutant.site.plant()
        return compile(self.tree, str(self.path), "exec", dont_inherit=True)


def faulty(path: Path, text: str) -> Faulty:
    """Find every fault that can be planted in a module."""
    tree = ast.parse(text, str(path))
    return Faulty(path, tree, tuple(_mutants(tree)))


def _mutants(tree: ast.Module) -> Iterator[Mutant]:
    for name, function in functions_of(tree):
        source = _without_docstring(function)
        seen = Counter[str]()
        for site in _sites(function):
            change = f"{_shown(site.original)} -> {_shown(site.replacement)}"
            seen[change] += 1
            if seen[change] > 1:
                change = f"{change} ({seen[change]})"
            digest = hashlib.sha256(f"{source}\0{change}".encode()).hexdigest()[:10]
            line = getattr(site.original, "lineno", getattr(site.parent, "lineno", 0))
            yield Mutant(name, line, change, digest, site)


def functions_of(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """The functions of a module and the methods of its classes, with their qualified names."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.ClassDef(name=name):
                yield from functions_of(node, f"{prefix}{name}.")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name not in FOR_PEOPLE:
                    yield f"{prefix}{name}", node
            case ast.If():
                yield from functions_of(node, prefix)
            case _:
                pass


def function_of(tree: ast.Module, name: str) -> Function:
    """The function of this qualified name; the last, where there are overloads."""
    return dict(functions_of(tree))[name]


def _without_docstring(function: Function) -> str:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    header = ast.unparse(function.args)
    return "\n".join((header, *(ast.unparse(statement) for statement in body)))


def _shown(node: ast.AST | None) -> str:
    if node is None or isinstance(node, ast.Pass):
        return "nothing"
    if isinstance(node, ast.cmpop):
        return type(node).__name__
    text = re.sub(r"\s+", " ", ast.unparse(node))
    return text if len(text) <= 120 else f"{text[:70]} … {text[-45:]}"


# --- where, and what in its place -------------------------------------------------------------


def _sites(function: Function) -> Iterator[Site]:
    yield from _of_arguments(function.args)
    for index, statement in enumerate(function.body):
        yield from _of_statement(function, "body", index, statement)


def _of_arguments(arguments: ast.arguments) -> Iterator[Site]:
    for name in ("defaults", "kw_defaults"):
        for index, default in enumerate(getattr(arguments, name)):
            if isinstance(default, ast.Constant):
                yield from _of_constant(arguments, name, index, default)


def _of_statement(parent: ast.AST, name: str, index: int | None, node: ast.stmt) -> Iterator[Site]:
    """The faults of one statement and of all that is in it."""
    gone = Site(parent, name, index, ast.Pass())
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Pass():
            return
        case ast.Expr(value=ast.Call(func=ast.Name(id="assert_never"))):
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Raise():
            yield gone  # what it says is for people
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _sites(node)
            return
        case ast.Continue():
            yield Site(parent, name, index, ast.Break())
        case ast.Break():
            yield Site(parent, name, index, ast.Continue())
        case ast.Expr() | ast.AugAssign() | ast.Delete():
            yield gone
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield gone
        case ast.Assign(targets=[ast.Name(id=word)], value=value) if _reads(value, word):
            yield gone
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield Site(node, "value", None, ast.Constant(None))
        case ast.If(test=test) | ast.While(test=test):
            yield from _negated(node, "test", None, test)
        case _:
            pass
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        other = ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
        yield Site(parent, name, index, other)
    yield from _of_children(node)


def _reads(value: ast.expr, word: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == word for node in ast.walk(value))


def _of_children(node: ast.AST) -> Iterator[Site]:
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "op", "ops", "ctx"}:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            match child:
                case ast.stmt():
                    yield from _of_statement(node, name, index, child)
                case ast.expr():
                    yield from _of_expression(node, name, index, child)
                case ast.match_case(guard=ast.expr() as guard):
                    yield Site(child, "guard", None, None)
                    yield from _negated(child, "guard", None, guard)
                    yield from _of_children(child)
                case ast.comprehension():
                    for place, test in enumerate(child.ifs):
                        yield from _negated(child, "ifs", place, test)
                    yield from _of_children(child)
                case ast.MatchOr():
                    yield from _each_left_out(child, "patterns")
                    yield from _of_children(child)
                case ast.AST():
                    yield from _of_children(child)
                case _:
                    pass


def _negated(parent: ast.AST, name: str, index: int | None, test: ast.expr) -> Iterator[Site]:
    match test:
        case ast.UnaryOp(op=ast.Not()) | ast.Constant():
            pass  # has a fault of its own that does this
        case ast.Compare(ops=[operator]) if isinstance(operator, TWO_SIDED):
            pass
        case _:
            yield Site(parent, name, index, ast.UnaryOp(ast.Not(), test))


def _each_left_out(node: ast.AST, name: str) -> Iterator[Site]:
    for index in range(len(getattr(node, name))):
        yield Site(node, name, index, None)


def _of_expression(parent: ast.AST, name: str, index: int | None, node: ast.expr) -> Iterator[Site]:
    """The faults of one expression and of all that is in it."""

    def instead(other: ast.expr) -> Site:
        return Site(parent, name, index, other)

    match node:
        case ast.JoinedStr():
            return
        case ast.Constant():
            yield from _of_constant(parent, name, index, node)
        case ast.Call():
            if _is_untouched(node):
                return
            if _called(node) == "zip":  # whether it is strict is for readers
                for place, argument in enumerate(node.args):
                    yield from _of_expression(node, "args", place, argument)
                return
            yield from _of_call(node, instead)
            if _is_kind_check(node):
                yield from _of_expression(node, "args", 0, node.args[0])
                return
        case ast.Compare(left=left, ops=operators, comparators=right):
            for place, operator in enumerate(operators):
                others = list(operators)
                others[place] = COMPARISONS[type(operator)]()
                yield instead(ast.Compare(left, others, right))
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield instead(ast.BoolOp(other, values))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield instead(operand)
        case ast.BinOp():
            yield from _of_operation(node, instead)
        case ast.IfExp(test=test):
            yield from _negated(node, "test", None, test)
        case ast.Slice():
            for bound in ("lower", "upper", "step"):
                if getattr(node, bound) is not None:
                    yield Site(node, bound, None, None)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            if any(isinstance(item, ast.Starred) for item in items):
                yield from _each_left_out(node, "elts")
        case _:
            pass
    yield from _of_children(node)


def _of_constant(
    parent: ast.AST, name: str, index: int | None, node: ast.Constant
) -> Iterator[Site]:
    match node.value:
        case bool(value):
            yield Site(parent, name, index, ast.Constant(not value))
        case int(value) | float(value):
            yield Site(parent, name, index, ast.Constant(value + 1))
        case str(value) if WORD.fullmatch(value):
            yield Site(parent, name, index, ast.Constant(f"{value}x"))
        case _:
            pass


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def _is_untouched(node: ast.Call) -> bool:
    called = _called(node)
    return called in UNTOUCHED or called.endswith(("Error", "Exception"))


def _is_kind_check(node: ast.Call) -> bool:
    return _called(node) in {"isinstance", "issubclass"} and len(node.args) == 2


def _of_call(node: ast.Call, instead: Callable[[ast.expr], Site]) -> Iterator[Site]:
    yield from _each_left_out(node, "keywords")
    match node:
        case ast.Call(func=ast.Name(id=called)) if called in OPPOSITES:
            other = ast.Name(OPPOSITES[called], ast.Load())
            yield instead(ast.Call(other, node.args, node.keywords))
        case ast.Call(args=[value, ast.BinOp(op=ast.BitOr()) as kinds]) if _is_kind_check(node):
            alternatives = list(_alternatives(kinds))
            for left_out in range(len(alternatives)):
                kept = [it for place, it in enumerate(alternatives) if place != left_out]
                yield instead(ast.Call(node.func, [value, ast.Tuple(kept, ast.Load())], []))
        case _:
            pass


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _alternatives(node.left)
        yield from _alternatives(node.right)
    else:
        yield node


def _of_operation(node: ast.BinOp, instead: Callable[[ast.expr], Site]) -> Iterator[Site]:
    sides = (node.left, node.right)
    if isinstance(node.op, ast.Add) and any(map(_is_sequence, sides)):
        yield from map(instead, sides)
    elif type(node.op) in OPERATORS and not any(map(_is_sequence, sides)):
        yield instead(ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right))


def _is_sequence(node: ast.expr) -> bool:
    """Whether it is certainly text or a sequence, with which one cannot calculate."""
    match node:
        case ast.Tuple() | ast.List() | ast.JoinedStr():
            return True
        case ast.Constant(value=value):
            return isinstance(value, str | bytes)
        case ast.BinOp(op=ast.Add()):
            return _is_sequence(node.left) or _is_sequence(node.right)
        case _:
            return False
